import type { z } from 'zod';
import { type Html, html } from '#api/web/html.ts';
import type { ScanView } from '../views.ts';

type Scan = z.input<typeof ScanView>;

const [width, height, gap] = [12, 48, 3];

/**
 * How many deviations the latest scans found, oldest first. A scan without a result makes a gap. Null if fewer than two scans have results.
 */
export function renderTrend(newestFirst: readonly Scan[]): Html | null {
  const scans = newestFirst.filter(({ finished_at: end }) => end !== null).toReversed();
  const told = scans.flatMap(({ found }) => found ?? []);
  const [first, last] = [told[0], told.at(-1)];
  if (told.length < 2 || first === undefined || last === undefined) return null;
  const max = Math.max(1, ...told);
  const label = `Drift in the last ${scans.length} scans: from ${first} to ${last}, at most ${Math.max(...told)}`;
  return html`<section class="section" aria-labelledby="trend"><div class="section-head"><h2 id="trend">Trend</h2><p class="muted">${label}.</p></div>
<div class="panel"><svg class="drift-trend" role="img" aria-label="${label}" viewBox="0 0 ${scans.length * (width + gap)} ${height}" width="${scans.length * (width + gap)}" height="${height}">${scans.map((scan, index) => renderBar(scan, index, max))}</svg></div></section>`;
}

function renderBar({ found, status }: Scan, index: number, max: number): Html {
  const x = index * (width + gap);
  if (found === null)
    return html`<circle class="drift-trend-gap" cx="${x + width / 2}" cy="${height - 4}" r="2"><title>${status}</title></circle>`;
  const size = found === 0 ? 2 : Math.max(4, Math.round((found / max) * height));
  return html`<rect class="${found === 0 ? 'drift-trend-none' : 'drift-trend-some'}" x="${x}" y="${height - size}" width="${width}" height="${size}" rx="2"><title>${found}</title></rect>`;
}
