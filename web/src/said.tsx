import { useText } from "./i18n";
import { chineseOrNull } from "./sentences";

/** A sentence of opdrift in the language of the page; one that has no Chinese form stays English. */
export function Said(props: { text: string }) {
  const { language } = useText();
  const chinese = language === "zh" ? chineseOrNull(props.text) : null;
  return <span lang={chinese === null && language === "zh" ? "en" : undefined}>{chinese ?? props.text}</span>;
}
