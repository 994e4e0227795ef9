import { useEffect, useState } from "preact/hooks";

export type Step = () => Promise<void> | void;

/**
 * How many of `steps` are done; one is taken after every paint, so that what stands first on the
 * page is seen first.
 */
export function useStages(steps: Step[]): number {
  const [stage, setStage] = useState(0);
  useEffect(() => {
    if (stage >= steps.length) return;
    let gone = false;
    // A timer and not the frame itself, in which the work would come before the paint. The frame
    // does not come in a window that is not seen, the timer does.
    const timer = setTimeout(async () => {
      await steps[stage]();
      if (!gone) setStage(stage + 1);
    }, 0);
    return () => {
      gone = true;
      clearTimeout(timer);
    };
  }, [stage]);
  const done = stage === steps.length;
  useEffect(() => {
    if (done && location.hash !== "") document.getElementById(location.hash.slice(1))?.scrollIntoView();
  }, [done]);
  return stage;
}
