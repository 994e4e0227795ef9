import { useMemo, useState } from "preact/hooks";

import { count } from "./format";
import { useText } from "./i18n";
import { Frame, Headline } from "./page";
import { plain } from "./plain";
import { Said } from "./said";
import { wordsOf } from "./search";

/** What cli/result_server.cpp writes: the results below a folder. */
export interface RawList {
  kind: "list";
  version: string;
  folder: string;
  left_out: number;
  results: {
    path: string;
    modified: number;
    outcome: string;
    sentence: string;
    target: string;
    golden: string;
    tensors: number;
    failed: number;
  }[];
}

const encoded = (path: string) => path.split("/").map(encodeURIComponent).join("/");

/** Names as an address: the server reads several `r`. */
function trendsAddress(paths: string[]): string {
  return `/trends?${paths.map((path) => `r=${encodeURIComponent(path)}`).join("&")}`;
}

export function ListPage(props: { raw: RawList }) {
  const shortcuts = { "/": () => document.getElementById("search")?.focus() };
  return (
    <Frame title={(t) => `opdrift: ${t("results")}`} links={[]} shortcuts={shortcuts}
      head={<Headline outcome="results" sentence={plain(props.raw.folder)} />}>
      {() => (
        <div class="layout single">
          <main>
            <ResultList raw={props.raw} />
            <footer class="muted">opdrift {props.raw.version}</footer>
          </main>
        </div>
      )}
    </Frame>
  );
}

function ResultList(props: { raw: RawList }) {
  const { raw } = props;
  const text = useText();
  const { t } = text;
  const [query, setQuery] = useState("");
  const [chosen, setChosen] = useState<string[]>([]);
  const shown = useMemo(() => {
    const words = wordsOf(query);
    return raw.results.filter((result) => {
      const haystack = `${result.path}\n${result.target}\n${result.golden}\n${result.sentence}`.toLowerCase();
      return words.every((word) => haystack.includes(word));
    });
  }, [raw, query]);
  const toggle = (path: string) =>
    setChosen(chosen.includes(path) ? chosen.filter((other) => other !== path) : [...chosen, path]);
  // Before and after by age, whichever was chosen first.
  const age = (path: string) => raw.results.find((result) => result.path === path)?.modified ?? 0;
  const ordered = [...chosen].sort((a, b) => age(a) - age(b));
  return (
    <section aria-labelledby="results-title">
      <h2 id="results-title">{t("results")}</h2>
      <div class="tools">
        <input id="search" type="search" value={query} placeholder={t("file")} aria-label={t("file")} onInput={(e) => setQuery(e.currentTarget.value)} />
        <output class="shown">{t("shown", count(shown.length), count(raw.results.length))}</output>
        <button type="button" id="compare" disabled={chosen.length < 2} onClick={() => location.assign(trendsAddress(ordered))}>
          {chosen.length > 2 ? t("trends") : t("compareTwo")}
        </button>
      </div>
      {raw.left_out > 0 && <p class="hint">{t("more", raw.left_out)}</p>}
      {shown.length === 0 && <p class="empty">{t("noResults")}</p>}
      <table class="notes results">
        <tbody>
          {shown.map((result) => (
            <tr>
              <td><input type="checkbox" checked={chosen.includes(result.path)} aria-label={plain(result.path)} onChange={() => toggle(result.path)} /></td>
              <td><span class={`badge outcome-${result.outcome}`}>{text.outcome(result.outcome)}</span></td>
              <td>
                <a href={`/report/${encoded(result.path)}`}>{plain(result.path)}</a>
                <div class="muted"><Said text={plain(result.sentence)} /></div>
              </td>
              <td class="num">{t("failedOf", count(result.failed), count(result.tensors))}</td>
              <td class="muted">{new Date(result.modified * 1000).toLocaleString(text.language === "zh" ? "zh-CN" : undefined)}</td>
              <td><a href={`/json/${encoded(result.path)}`}>json</a></td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
