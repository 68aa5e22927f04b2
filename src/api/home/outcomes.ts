import type { EncodedAnswerOf } from '#api/pipeline/answers/answer-types.ts';
import { getStatistics } from '#api/runs/lists/statistics-operations.ts';
import { groupWordOf, runStatusLooks } from '#api/web/components/status.ts';
import { type Html, html } from '#api/web/html.ts';
import type { Query } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';

type Statistics = EncodedAnswerOf<typeof getStatistics.responses>;
type Day = Statistics['days'][number];

/** The outcomes, from the bottom to the top of a bar. */
const outcomes = [
  ...(['succeeded', 'failed', 'timed_out', 'canceled'] as const).map((key) => ({
    key,
    label: groupWordOf(runStatusLooks[key]),
  })),
  { key: 'unfinished' as const, label: 'In progress' },
];

const height = 120;
const barWidth = 14;
const step = 20;

/** A chart of the runs of the last 30 days by outcome, with the same numbers as a table. It is not updated while the page is open. */
export async function renderOutcomes(visit: Visit, scope: Query): Promise<Html> {
  const { days, total } = await visit.read(getStatistics, { query: { ...scope, medians: 'false' } });
  const max = Math.max(1, ...days.map(countOf));
  return html`<section class="box" aria-labelledby="outcomes">
<h2 id="outcomes">Runs in the last 30 days</h2>
<div class="panel">
<figure class="chart">
<svg viewBox="0 0 ${days.length * step} ${height + 2}" preserveAspectRatio="none" role="img" aria-label="${describe(total, days)}">
${days.map((day, index) => renderBar(day, index * step, max))}
</svg>
<figcaption><ul class="legend" role="list">${outcomes.map(
    ({ key, label }) => html`<li><span class="swatch bar-${key}"></span>${label} ${total[key]}</li>`,
  )}</ul></figcaption>
</figure>
<details><summary>Show as a table</summary>${renderNumbers(days)}</details>
</div></section>`;
}

function countOf(day: Day): number {
  return outcomes.reduce((sum, { key }) => sum + day[key], 0);
}

function renderBar(day: Day, x: number, max: number): Html {
  let top = height;
  return html`${outcomes.map(({ key, label }) => {
    const size = (day[key] / max) * height;
    top -= size;
    return day[key] === 0
      ? null
      : html`<rect class="bar-${key}" x="${x}" y="${top.toFixed(1)}" width="${barWidth}" height="${size.toFixed(1)}"><title>${day.date}: ${day[key]} ${label.toLowerCase()}</title></rect>`;
  })}<rect class="bar-ground" x="${x}" y="${height}" width="${barWidth}" height="1"></rect>`;
}

function describe(total: Statistics['total'], days: readonly Day[]): string {
  const parts = outcomes.map(({ key, label }) => `${total[key]} ${label.toLowerCase()}`);
  return `Runs by day from ${days[0]?.date ?? ''} to ${days.at(-1)?.date ?? ''}: ${parts.join(', ')}`;
}

function renderNumbers(days: readonly Day[]): Html {
  const present = days.filter((day) => countOf(day) > 0).reverse();
  if (present.length === 0) return html`<p class="muted">There were no runs.</p>`;
  return html`<table class="values"><caption class="unseen">Runs by day and outcome</caption>
<thead><tr><th scope="col">Day</th>${outcomes.map(({ label }) => html`<th scope="col">${label}</th>`)}</tr></thead>
<tbody>${present.map((day) => html`<tr><th scope="row">${day.date}</th>${outcomes.map(({ key }) => html`<td>${day[key]}</td>`)}</tr>`)}</tbody></table>`;
}
