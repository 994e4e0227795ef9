import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";

import { LanguageContext, translator, useText, type Language, type TextKey } from "./i18n";
import { usePrinting } from "./printing";
import { Said } from "./said";

/** A choice kept between visits; file pages of some browsers have no storage. */
function kept(key: string): string | null {
  try {
    return localStorage.getItem(`opdrift.${key}`);
  } catch {
    return null;
  }
}

function keep(key: string, value: string): void {
  try {
    localStorage.setItem(`opdrift.${key}`, value);
  } catch {
    // Nothing depends on it.
  }
}

function firstLanguage(): Language {
  const chosen = kept("language") ?? navigator.language;
  return chosen.toLowerCase().startsWith("zh") ? "zh" : "en";
}

export type Theme = "light" | "dark";

/** The theme in force; paper is always light. */
export function useTheme(): [Theme, () => void] {
  const [chosen, setChosen] = useState<string | null>(() => kept("theme"));
  const [system, setSystem] = useState(() => matchMedia("(prefers-color-scheme: dark)").matches);
  const printing = usePrinting();
  useEffect(() => {
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    const onScheme = () => setSystem(scheme.matches);
    scheme.addEventListener("change", onScheme);
    return () => scheme.removeEventListener("change", onScheme);
  }, []);
  const wanted: Theme = chosen === "light" || chosen === "dark" ? chosen : system ? "dark" : "light";
  const theme = printing ? "light" : wanted;
  document.documentElement.dataset.theme = theme;
  const toggle = () => {
    const next = wanted === "dark" ? "light" : "dark";
    keep("theme", next);
    setChosen(next);
  };
  return [theme, toggle];
}

const KEYS: [string, TextKey][] = [
  ["/", "keySearch"],
  ["n  p", "keyNext"],
  ["↑ ↓ ← →", "keyMove"],
  ["Esc", "keyClose"],
  ["l", "keyLanguage"],
  ["t", "keyTheme"],
];

export interface Shortcuts {
  [key: string]: () => void;
}

/** Language, theme and shortcuts around a page. */
export function Frame(props: {
  title: (t: (key: TextKey) => string) => string;
  head: ComponentChildren;
  outcome?: string;
  links: { id: string; text: TextKey }[];
  shortcuts: Shortcuts;
  children: (theme: Theme) => ComponentChildren;
}) {
  const [language, setLanguage] = useState<Language>(firstLanguage);
  const [theme, toggleTheme] = useTheme();
  const [help, setHelp] = useState(false);
  const text = useMemo(() => translator(language), [language]);
  const { t } = text;
  const toggleLanguage = () => {
    const next = language === "zh" ? "en" : "zh";
    keep("language", next);
    setLanguage(next);
  };
  document.documentElement.lang = language === "zh" ? "zh-CN" : "en";
  document.title = props.title(t);

  useEffect(() => {
    const actions: Shortcuts = { ...props.shortcuts, l: toggleLanguage, t: toggleTheme, "?": () => setHelp((h) => !h) };
    const onKeyDown = (event: KeyboardEvent) => {
      const typing = event.target instanceof HTMLElement && /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === "Escape") {
        setHelp(false);
        if (typing) (event.target as HTMLElement).blur();
      }
      if (typing || !Object.hasOwn(actions, event.key)) {
        if (event.key === "Escape") actions.Escape?.();
        return;
      }
      event.preventDefault();
      actions[event.key]();
    };
    addEventListener("keydown", onKeyDown);
    return () => removeEventListener("keydown", onKeyDown);
  });

  return (
    <LanguageContext.Provider value={text}>
      <header class={`top outcome-${props.outcome ?? "none"}`}>
        <div class="headline">{props.head}</div>
        <div class="switches">
          <button type="button" id="language" onClick={toggleLanguage} lang={language === "zh" ? "en" : "zh-CN"}>
            {language === "zh" ? "English" : "中文"}
          </button>
          <button type="button" id="theme" onClick={toggleTheme} title={t("theme")} aria-label={t("theme")}>
            {theme === "dark" ? "☀" : "☾"}
          </button>
          <button type="button" onClick={() => setHelp(!help)} aria-expanded={help} title={t("help")} aria-label={t("help")}>?</button>
        </div>
        <nav class="links-bar">
          {location.protocol === "http:" && location.pathname !== "/" && <a href="/">{t("allResults")}</a>}
          {props.links.map((link) => <a href={`#${link.id}`}>{t(link.text)}</a>)}
        </nav>
      </header>
      {help && (
        <div class="help" role="dialog" aria-label={t("help")}>
          <dl>
            {KEYS.map(([key, name]) => (
              <>
                <dt><kbd>{key}</kbd></dt>
                <dd>{t(name)}</dd>
              </>
            ))}
          </dl>
        </div>
      )}
      {props.children(theme)}
    </LanguageContext.Provider>
  );
}

/** The badge and sentence at the top. */
export function Headline(props: { outcome: string; sentence: string }) {
  const text = useText();
  return (
    <>
      <h1>
        <span class="brand">opdrift</span> <span class="badge">{text.outcome(props.outcome)}</span>
      </h1>
      <p class="sentence"><Said text={props.sentence} /></p>
    </>
  );
}
