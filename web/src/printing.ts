import { useEffect, useState } from "preact/hooks";

/** Whether the page is being laid out for paper. */
export function usePrinting(): boolean {
  const [printing, setPrinting] = useState(false);
  useEffect(() => {
    const paper = matchMedia("print");
    const onPaper = () => setPrinting(paper.matches);
    paper.addEventListener("change", onPaper);
    return () => paper.removeEventListener("change", onPaper);
  }, []);
  return printing;
}
