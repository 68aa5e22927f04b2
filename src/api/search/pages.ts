import type { FastifyReply } from 'fastify';
import type { EncodedAnswerOf } from '#api/pipeline/answers/answer-types.ts';
import { inTurn } from '#api/pipeline/invocation/costly-reads.ts';
import { type IconName, renderIcon } from '#api/web/components/icon.ts';
import { renderPageHead } from '#api/web/components/page-head.ts';
import { lookOfRun } from '#api/web/components/status.ts';
import { renderEmpty } from '#api/web/components/table.ts';
import { page } from '#api/web/declarations/area.ts';
import { fieldId, renderSummary } from '#api/web/forms/form.ts';
import { submit } from '#api/web/forms/problems.ts';
import { type Html, html } from '#api/web/html.ts';
import { type LocalPath, pagePath, pages } from '#api/web/paths.ts';
import { resourceKindOf } from '#api/web/resource-kinds.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { findByWholeNames, readSearched } from '#domain/search/search-store.ts';
import type { NamedKind } from '#domain/searched-kinds.ts';
import type { RunStatus } from '#domain/shared/vocabulary/runs.ts';
import { find } from './operations.ts';

type Found = EncodedAnswerOf<typeof find.responses>;
type Result = Found['results'][number];

/** The page for the search in the bar. */
export const searchPage = page('GET', pages.search, showSearch);

/**
 * Finds things with exactly these names, by name, for visitors who may search. It is as costly as a search, and waits in the same queue.
 */
export async function findNamed(
  visit: Visit<unknown>,
  texts: readonly string[],
  kinds?: readonly NamedKind[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  if (texts.length === 0 || !visit.mayDo(find).allowed) return new Map();
  const { em, principal } = visit;
  return inTurn(principal, () => findByWholeNames(em, principal, { texts, kinds }));
}

/**
 * Lists everything that the visitor may read whose name, address, message or id contains the text. If the text is the id of one thing,
 * redirects to its page.
 */
async function showSearch(visit: Visit): Promise<FastifyReply> {
  const text = visit.query('q')?.trim() ?? '';
  const searched = await submit(visit, ['q'], async () =>
    text === '' ? null : visit.read(find, { query: { q: text } }),
  );
  const found = searched.done ? searched.result : null;
  const [only, ...others] = found?.results ?? [];
  if (only && others.length === 0 && only.id === readSearched(text).toLowerCase())
    return visit.redirect(addressOf(only));
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
${found && (only ? renderResults(found, text) : renderNothing(text))}
</div>`,
  };
  return visit.show(page, searched.done ? 200 : searched.problems.status);
}

const textLabel = 'Name, address, message, version, person or ID';

function renderResults({ results, cut }: Found, text: string): Html {
  const kinds = [...new Set(results.map(({ kind }) => kind))];
  return html`${kinds.map((kind) => {
    const { label, icon } = resourceKindOf(kind);
    return html`<section class="stack" aria-labelledby="k-${kind}"><h2 id="k-${kind}">${label}</h2>
<ul class="list-panel results" role="list">${results
      .filter((result) => result.kind === kind)
      .map((result) =>
        renderResult(result, icon),
      )}</ul>${cut.includes(kind) ? renderMore(kind, text) : null}${kind === 'run' ? renderAllRuns(results, text) : null}</section>`;
  })}`;
}

function renderResult(result: Result, icon: IconName): Html {
  const context = describeContext(result);
  return html`<li class="result" data-row>${renderIcon(icon)}<a class="foreign" href="${addressOf(result)}">${result.name}</a>${
    context && html`<span class="muted foreign">${context}</span>`
  }${result.message ? html`<span class="muted foreign">${shorten(result.message)}</span>` : null}</li>`;
}

/** The context of a result. Runs are distinguished by their status. */
function describeContext({ kind, context, status_reason, waiting_on }: Result): string | null {
  return kind === 'run' ? lookOfRun({ status: context as RunStatus, status_reason, waiting_on }).word : context;
}

/** The beginning of a message, which may have several lines. */
function shorten(message: string): string {
  const line = message.replaceAll(/\s+/g, ' ').trim();
  return line.length > maxExcerpt ? `${line.slice(0, maxExcerpt)}…` : line;
}

const maxExcerpt = 120;

function renderMore(kind: Result['kind'], text: string): Html {
  return kind === 'resource'
    ? html`<p><a href="${pagePath(pages.resources, {}, { q: text })}">All resources with this text</a></p>`
    : html`<p class="muted">There are more. A longer text finds fewer.</p>`;
}

/** Links to lists of all runs of the instances with this name, because the results contain only the newest runs. */
function renderAllRuns(results: readonly Result[], text: string): Html {
  const called = results.filter(({ kind, name }) => kind === 'instance' && name.toLowerCase() === text.toLowerCase());
  return html`${called.map(
    ({ id, name, context }) =>
      html`<p><a href="${pagePath(pages.runs, {}, { instance_id: id })}">All runs of <span class="foreign">${name}</span>${
        context && html` in <span class="foreign">${context}</span>`
      }</a></p>`,
  )}`;
}

function renderNothing(text: string): Html {
  return html`<div class="list-panel">${renderEmpty(
    'Nothing found',
    html`Nothing that you may read has <q class="foreign">${text}</q> in its name, address, message or number. Messages and addresses are searched from the beginning of a word on.`,
  )}</div>`;
}

function addressOf({ kind, id, name, organization_id: organizationId, parent_id: parentId }: Result): LocalPath {
  const isMember = (kind === 'user' || kind === 'service_account') && parentId !== null;
  const path = isMember
    ? resourceKindOf('organization_member').page({ id, organizationId: parentId })
    : resourceKindOf(kind).page({ id, name, organizationId, parentId });
  return path || pagePath(pages.search, {}, { q: id });
}
