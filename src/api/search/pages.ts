import type { FastifyReply } from 'fastify';
import type { EncodedAnswerOf } from '#api/pipeline/answers/answer-types.ts';
import { renderIcon } from '#api/web/components/icon.ts';
import { renderPageHead } from '#api/web/components/page-head.ts';
import { runStatusLooks } from '#api/web/components/status.ts';
import { renderEmpty } from '#api/web/components/table.ts';
import { fieldId, renderSummary } from '#api/web/forms/form.ts';
import { submit } from '#api/web/forms/problems.ts';
import { type Html, html } from '#api/web/html.ts';
import { type LocalPath, pagePath, pages } from '#api/web/paths.ts';
import { resourceKindOf } from '#api/web/resource-kinds.ts';
import type { AddPage } from '#api/web/visit/route.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import type { RunStatus } from '#domain/runs/model.ts';
import { find } from './operations.ts';

type Found = EncodedAnswerOf<typeof find.responses>;
type Result = Found['results'][number];

/** Adds the page that the search of the bar leads to. */
export function registerSearch(addPage: AddPage): void {
  addPage('GET', pages.search, showSearch);
}

/** Lists what the visitor may read and whose name, address or id has the text in it. If the text is the id of one thing, its page opens. */
async function showSearch(visit: Visit): Promise<FastifyReply> {
  const text = visit.query('q')?.trim() ?? '';
  const searched = await submit(visit, ['q'], async () =>
    text === '' ? null : visit.read(find, { query: { q: text } }),
  );
  const found = searched.done ? searched.result : null;
  const [only, ...others] = found?.results ?? [];
  if (only && others.length === 0 && only.id === text.toLowerCase()) return visit.redirect(addressOf(only));
  const page = {
    title: 'Search',
    hasProblem: !searched.done,
    main: html`<div class="page">
${renderPageHead({ title: 'Search' })}
<form class="filters" role="search" method="get" action="${pages.search}" aria-label="Everything">
<div class="field field-wide"><label for="${fieldId('q')}">${textLabel}</label><input id="${fieldId('q')}" type="search" name="q" value="${text}" maxlength="200" autocomplete="off" spellcheck="false"></div>
<button class="button button-primary" type="submit">Search</button>
</form>
${searched.done ? null : renderSummary(searched.problems, [{ name: 'q', label: textLabel }])}
${found && (only ? renderResults(found) : renderNothing(text))}
</div>`,
  };
  return visit.show(page, searched.done ? 200 : searched.problems.status);
}

const textLabel = 'Name or ID';

function renderResults({ results, cut }: Found): Html {
  const kinds = [...new Set(results.map(({ kind }) => kind))];
  return html`${kinds.map((kind) => {
    const { label, icon } = resourceKindOf(kind);
    return html`<section class="stack" aria-labelledby="k-${kind}"><h2 id="k-${kind}">${label}</h2>
<ul class="list-panel results" role="list">${results
      .filter((result) => result.kind === kind)
      .map(
        (result) =>
          html`<li class="result" data-row>${renderIcon(icon)}<a class="foreign" href="${addressOf(result)}">${result.name}</a>${
            result.context ? html`<span class="muted foreign">${describeContext(result)}</span>` : null
          }</li>`,
      )}</ul>${cut.includes(kind) ? html`<p class="muted">There are more. A longer text finds fewer.</p>` : null}</section>`;
  })}`;
}

/** What tells a run apart is its status. */
function describeContext({ kind, context }: Result): string | null {
  return kind === 'run' ? (runStatusLooks[context as RunStatus]?.word ?? context) : context;
}

function renderNothing(text: string): Html {
  return html`<div class="list-panel">${renderEmpty(
    'Nothing found',
    html`Nothing that you may read is called <q class="foreign">${text}</q>. A run is found by its id, the end of it, or its idempotency key.`,
  )}</div>`;
}

function addressOf({ kind, id, organization_id: organizationId }: Result): LocalPath {
  return resourceKindOf(kind).page({ id, organizationId }) || pagePath(pages.search, {}, { q: id });
}
