import type { FastifyReply } from 'fastify';
import { renderIcon } from '#api/web/components/icon.ts';
import { renderPageHead } from '#api/web/components/page-head.ts';
import type { FormField } from '#api/web/forms/fields/form-field.ts';
import { renderForm } from '#api/web/forms/form.ts';
import { type FormProblems, requireRevision, submit } from '#api/web/forms/problems.ts';
import { revisionName } from '#api/web/forms/read-form.ts';
import { openedName } from '#api/web/forms/stale.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { toSentence } from '#api/web/text.ts';
import { diff } from '../../diff-operations.ts';
import { getDraft, validate } from '../../draft-operations.ts';
import { publish } from '../../version-operations.ts';
import { renderComparison } from '../compare/comparison.ts';
import { graphScript } from '../graph-view.ts';
import { type AssemblyVisit, assemblyCrumbs, readAssembly, type ShownDiff } from '../views.ts';

/** Asks for the version and the changelog, and shows what differs from the latest version. */
export async function showPublish(visit: AssemblyVisit): Promise<FastifyReply> {
  return showForm(visit, {}, null);
}

export async function submitPublish(visit: AssemblyVisit): Promise<FastifyReply> {
  const typed = visit.form('version', 'changelog', revisionName, openedName);
  const body = { version: typed.version.trim(), changelog: typed.changelog };
  const { id } = visit.params;
  const done = await submit(visit, ['version', 'changelog'], () => {
    requireRevision(visit);
    return visit.run(publish, { params: { id }, body });
  });
  if (!done.done) return showForm(visit, typed, done.problems);
  return visit.redirect(pagePath(pages.assembly, { id }, { done: 'published' }));
}

async function showForm(
  visit: AssemblyVisit,
  typed: Readonly<Record<string, string>>,
  problems: FormProblems | null,
): Promise<FastifyReply> {
  const { id } = visit.params;
  const [assembly, draft, report] = await Promise.all([
    readAssembly(visit),
    visit.read(getDraft, { params: { id } }),
    visit.read(validate, { params: { id }, body: {} }),
  ]);
  const latest = assembly.latest_version;
  const compared =
    latest === null ? null : await visit.read(diff, { params: { id }, query: { from: latest, to: 'draft' } });
  const title = `Publish ${assembly.name}`;
  const edit = pagePath(pages.assemblyDraft, { id });
  const form = renderForm({
    action: pagePath(pages.publishAssembly, { id }),
    fields: publishFields(latest, nextVersion(latest, compared), draft.revision),
    submit: 'Publish',
    cancel: edit,
    cancelLabel: 'Back to the draft',
    typed,
    problems,
  });
  const page = {
    title,
    hasProblem: problems !== null,
    scripts: [graphScript],
    main: html`<div class="page page-wide">
${renderPageHead({ title, crumbs: assemblyCrumbs(assembly), below: 'Each node gets the exact template version that it names now.' })}
<div class="panel stack page-narrow">${report.valid ? form : renderInvalid(report.errors, edit)}</div>
${compared === null ? null : html`<section class="stack" aria-labelledby="since"><h2 id="since">Since ${latest}</h2>${await renderComparison(visit, id, compared)}</section>`}
</div>`,
  };
  return visit.show(page, problems?.status ?? 200);
}

function publishFields(latest: string | null, proposed: string, revision: number): FormField[] {
  const hint =
    latest === null ? 'A semantic version, such as 1.0.0.' : `After ${latest}. It never changes once it is published.`;
  return [
    { name: 'version', label: 'Version', value: proposed, hint },
    {
      name: 'changelog',
      label: 'Changelog',
      kind: 'area',
      isOptional: true,
      hint: 'What changed, and why.',
    },
    // If somebody saves another draft meanwhile, this revision keeps the publication from ignoring it.
    { name: 'expected_revision', label: 'Draft', kind: 'hidden', value: String(revision) },
  ];
}

function renderInvalid(errors: readonly { message: string; line: number | null }[], edit: string): Html {
  return html`<div class="notice notice-problem" role="alert">${renderIcon('octagon-x')}<div><p>The draft is not valid, so it cannot be published yet.</p>
<ul class="plain-list">${errors.slice(0, 10).map(({ message, line }) => html`<li class="foreign">${line === null ? '' : `Line ${line}: `}${toSentence(message)}</li>`)}</ul></div></div>
<a class="button" href="${edit}">Back to the draft</a>`;
}

/**
 * Suggests the next version. A removed node leaves resources that nobody manages, and changed variables break callers, so both make a new
 * major version. An added node makes a new minor version.
 */
function nextVersion(latest: string | null, compared: ShownDiff | null): string {
  const [, major, minor, patch] = /^(\d+)\.(\d+)\.(\d+)/.exec(latest ?? '') ?? [];
  if (major === undefined || compared === null) return '1.0.0';
  const { nodes, fields } = compared;
  const breaks =
    nodes.some(({ change }) => change === 'removed') || fields.some(({ path }) => /^\/variables\/required/.test(path));
  if (breaks) return `${Number(major) + 1}.0.0`;
  if (nodes.some(({ change }) => change === 'added') || fields.length > 0) return `${major}.${Number(minor) + 1}.0`;
  return `${major}.${minor}.${Number(patch) + 1}`;
}
