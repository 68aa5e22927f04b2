import type { Comparison, Figure, Report, Table, Target } from '../benchmark.ts';
import { median, type Spread, spreadOf } from './statistics.ts';

const header = ['', 'service', 'compared with', 'ratio', 'target', ''];

/** The ratio of the medians. Its spread comes from the ratios of the single rounds. */
export function ratioOf({ service, other }: Comparison): Spread | null {
  if (other === null) return null;
  const each = service.values.map((value, round) => value / (other.values[round] ?? Number.NaN));
  return { ...spreadOf(each), median: median(service.values) / median(other.values) };
}

/** Whether the target is met; null: there is no target. */
export function isMet(comparison: Comparison): boolean | null {
  const ratio = ratioOf(comparison);
  const { target } = comparison;
  if (target !== null && 'below' in target) return median(comparison.service.values) <= target.below;
  if (ratio === null || target === null) return null;
  return 'atLeast' in target ? ratio.median >= target.atLeast : ratio.median <= target.atMost;
}

/** Formats what a benchmark has measured, in Markdown that is also readable on a terminal. */
export function toText({ comparisons, tables }: Report): string {
  const compared = formatTable([header, ...comparisons.map(toRow)]);
  return [compared, ...tables.map(toTitledTable)].join('\n\n');
}

function toTitledTable({ title, columns, rows }: Table): string {
  return `${title}\n\n${formatTable([columns, ...rows])}`;
}

function formatTable([columns = [], ...body]: readonly (readonly string[])[]): string {
  const rows = [columns, ...body].map((row) => row.map((cell) => cell.replaceAll('|', '\\|')));
  const widths = columns.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0), 3));
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  const rule = `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`;
  const [head = [], ...others] = rows;
  return [line(head), rule, ...others.map(line)].join('\n');
}

function toRow(comparison: Comparison): string[] {
  const { what, unit, service, other, target } = comparison;
  const ratio = ratioOf(comparison);
  const met = isMet(comparison);
  return [
    what,
    showFigure(service, unit),
    other === null ? '' : `${other.arm}: ${showFigure(other, unit)}`,
    ratio === null ? '' : `**${show(ratio.median)} ×** (${show(ratio.lowest)}–${show(ratio.highest)})`,
    showTarget(target, unit),
    met === null ? '' : met ? 'met' : 'missed',
  ];
}

function showFigure({ values }: Figure, unit: string): string {
  const { median: middle, lowest, highest } = spreadOf(values);
  return `${show(middle)} ${unit} (${show(lowest)}–${show(highest)})`;
}

function showTarget(target: Target | null, unit: string): string {
  if (target === null) return '';
  if ('below' in target) return `≤ ${target.below} ${unit}`;
  return 'atLeast' in target ? `≥ ${target.atLeast} ×` : `≤ ${target.atMost} ×`;
}

/** Formats a number with three digits or more. */
export function show(value: number): string {
  if (value >= 100) return Math.round(value).toString();
  return value >= 10 ? value.toFixed(1) : value.toFixed(2);
}
