import type { ComponentChildren } from "preact";
import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";

import { count } from "./format";
import { useText } from "./i18n";
import { usePrinting } from "./printing";

export const ROW_HEIGHT = 28;
const SPARE = 6;

export interface VirtualColumn {
  key: string;
  title: string;
  numeric?: boolean;
  /** Names too long for their cell keep their end. */
  tail?: boolean;
  width: string;
  sortable?: boolean;
}

/** A table of which only the rows in view exist. Arrow keys, Page and Home/End move the selection. */
export function VirtualTable(props: {
  columns: VirtualColumn[];
  rows: ArrayLike<number>;
  selected: number;
  label: string;
  sort?: { key: string; down: boolean };
  onSort?: (key: string) => void;
  onSelect?: (row: number) => void;
  rowClass?: (row: number) => string;
  cell: (row: number, key: string) => ComponentChildren;
  empty: string;
  /** Most rows on paper, which cannot be scrolled. */
  printed: number;
}) {
  const { columns, rows, selected, sort } = props;
  const { t } = useText();
  const scroller = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(600);
  const printing = usePrinting();
  const id = useId();

  useLayoutEffect(() => {
    const element = scroller.current;
    if (!element) return;
    const observer = new ResizeObserver(() => setHeight(element.clientHeight));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  const reveal = (at: number) => {
    const element = scroller.current;
    if (!element || at < 0) return;
    const room = element.clientHeight - ROW_HEIGHT;
    const place = at * ROW_HEIGHT;
    const before = element.scrollTop - place;
    const behind = place + ROW_HEIGHT - element.scrollTop - room;
    if (Math.max(before, behind) > 3 * ROW_HEIGHT) element.scrollTop = place - room / 2;
    else if (before > 0) element.scrollTop = place;
    else if (behind > 0) element.scrollTop = place + ROW_HEIGHT - room;
  };
  useEffect(() => reveal(Array.prototype.indexOf.call(rows, selected)), [selected, rows]);

  const onKeyDown = (event: KeyboardEvent) => {
    const page = Math.max(1, Math.floor(height / ROW_HEIGHT) - 2);
    const at: number = Array.prototype.indexOf.call(rows, selected);
    const to = {
      ArrowDown: at + 1,
      ArrowUp: at < 0 ? 0 : at - 1,
      PageDown: at + page,
      PageUp: at - page,
      Home: 0,
      End: rows.length - 1,
    }[event.key];
    if (to === undefined || rows.length === 0) return;
    event.preventDefault();
    props.onSelect?.(rows[Math.max(0, Math.min(rows.length - 1, to))]);
  };

  // Fewer rows than before: the browser moves the scroll bar, and tells so only later.
  const from = Math.min(top, Math.max(0, (rows.length + 1) * ROW_HEIGHT - height));
  const first = printing ? 0 : Math.max(0, Math.floor(from / ROW_HEIGHT) - SPARE);
  const last = Math.min(rows.length, printing ? props.printed : Math.ceil((from + height) / ROW_HEIGHT) + SPARE);
  const shown: number[] = [];
  for (let i = first; i < last; i++) shown.push(i);
  // Rows are known by their place in a ring: what leaves at one end, or has other content after
  // filtering, is filled again and not made anew.
  const ring = printing ? last : Math.ceil(height / ROW_HEIGHT) + 2 * SPARE + 2;
  const template = columns.map((column) => column.width).join(" ");

  return (
    <>
      <div class="grid" ref={scroller} tabIndex={0} role="grid" aria-label={props.label} aria-rowcount={rows.length + 1}
        aria-activedescendant={shown.some((i) => rows[i] === selected) ? `${id}-${selected}` : undefined}
        onKeyDown={onKeyDown} onScroll={(event) => setTop(event.currentTarget.scrollTop)}>
        <div class="grid-head" role="row" style={{ gridTemplateColumns: template }}>
          {columns.map((column) => (
            <div role="columnheader" class={column.numeric ? "num" : ""}
              aria-sort={sort?.key === column.key ? (sort.down ? "descending" : "ascending") : undefined}>
              {column.sortable === false || !props.onSort ? (
                column.title
              ) : (
                <button type="button" onClick={() => props.onSort?.(column.key)}>
                  {column.title}
                  <span aria-hidden="true">{sort?.key === column.key ? (sort.down ? " ▾" : " ▴") : ""}</span>
                </button>
              )}
            </div>
          ))}
        </div>
        {rows.length === 0 && <p class="empty">{props.empty}</p>}
        <div class="grid-body" role="rowgroup" style={{ height: `${rows.length * ROW_HEIGHT}px` }}>
          {shown.map((i) => {
            const row = rows[i];
            return (
              <div key={i % ring} id={`${id}-${row}`} role="row" aria-rowindex={i + 2} aria-selected={row === selected} data-row={row}
                class={`grid-row ${props.rowClass?.(row) ?? ""}${row === selected ? " on" : ""}`}
                style={{ gridTemplateColumns: template, top: `${i * ROW_HEIGHT}px`, height: `${ROW_HEIGHT}px` }}
                onClick={() => props.onSelect?.(row)}>
                {columns.map((column) => (
                  <div role="gridcell" class={column.numeric ? "num" : column.tail ? "tail" : ""}>{props.cell(row, column.key)}</div>
                ))}
              </div>
            );
          })}
        </div>
      </div>
      {printing && rows.length > props.printed && <p class="hint">{t("rowsPrinted", props.printed, count(rows.length))}</p>}
    </>
  );
}
