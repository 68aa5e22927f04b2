import type { FastifyReply } from 'fastify';
import { renderIcon } from '#api/web/components/icon.ts';
import { renderAge } from '#api/web/components/time.ts';
import { type FormProblems, submit } from '#api/web/forms/problems.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { toSentence } from '#api/web/text.ts';
import type { AssemblyEvaluator } from '#domain/assemblies/evaluation/assembly-evaluator.ts';
import { DraftUnreadable } from '#domain/assemblies/spec/text/parse.ts';
import { ServiceError } from '#domain/shared/errors.ts';
import { getDraft, saveTheDraft, validate } from '../../draft-operations.ts';
import { drawDraft } from '../../graph/spec-graph.ts';
import { assemblyPage } from '../assembly/frame.ts';
import { evaluatorOf, graphScript, renderGraph } from '../graph-view.ts';
import { type AssemblySubject, type AssemblyVisit, readAssembly, type ShownDraft, type ShownReport } from '../views.ts';
import { renderEditor } from './editor.ts';
import { writeStarterDraft } from './starter-draft.ts';

type Problem = ShownReport['errors'][number];

const maxListed = 100;

/** The result of a check: messages with links to their lines, and the drawing. A script replaces it after each pause in typing. */
async function renderReport(evaluator: AssemblyEvaluator, text: string, report: ShownReport): Promise<Html> {
  const { valid, errors, warnings } = report;
  return html`<div class="draft-report stack" id="draft-report">
<section class="panel stack" aria-labelledby="draft-verdict">
<h2 id="draft-verdict">${renderIcon(valid ? 'circle-check' : 'octagon-x')}<span role="status">${describeVerdict(report)}</span></h2>
${renderProblems(errors, 'problem')}
${warnings.length > 0 ? html`<h3>Warnings</h3>${renderProblems(warnings, 'warning')}` : null}
</section>
<section class="panel graph-panel" aria-label="Drawing">${await renderDrawing(evaluator, text, errors)}</section>
</div>`;
}

function describeVerdict({ valid, errors, warnings }: ShownReport): string {
  const count = (number: number, noun: string) => `${number} ${noun}${number === 1 ? '' : 's'}`;
  if (!valid) return `${count(errors.length, 'problem')} to fix before it can be published`;
  return warnings.length > 0 ? `Valid, with ${count(warnings.length, 'warning')}` : 'Valid: it can be published';
}

function renderProblems(problems: readonly Problem[], kind: string): Html | null {
  if (problems.length === 0) return null;
  const rest = problems.length - maxListed;
  return html`<ul class="draft-problems" role="list">${problems
    .toSorted((one, other) => (one.line ?? 0) - (other.line ?? 0))
    .slice(0, maxListed)
    .map(
      ({ path, message, line, column }) =>
        html`<li class="draft-${kind}">${line === null ? null : html`<a href="#L${line}" data-line="${line}">Line ${line}${column === null ? null : html`, column ${column}`}</a> `}<span class="foreign">${toSentence(message)}</span>${path ? html` <code class="muted foreign">${path}</code>` : null}</li>`,
    )}</ul>${rest > 0 ? html`<p class="muted">${rest} more.</p>` : null}`;
}

/** Draws the readable parts of the text. */
async function renderDrawing(evaluator: AssemblyEvaluator, text: string, errors: readonly Problem[]): Promise<Html> {
  try {
    const { value } = await evaluator.parseDraft(text);
    return renderGraph(await drawDraft(evaluator, value, errors));
  } catch (error) {
    if (error instanceof DraftUnreadable)
      return html`<p class="muted">The graph appears once the draft can be parsed.</p>`;
    throw error;
  }
}

/** Shows the draft in its editor, with its problems. */
export async function showDraft(visit: AssemblyVisit): Promise<FastifyReply> {
  const [assembly, draft] = await Promise.all([readAssembly(visit), readDraft(visit)]);
  const text = draft?.source ?? (await writeStarterDraft(visit, assembly));
  return showEditor(visit, assembly, { text, draft, revision: String(draft?.revision ?? 0) });
}

/** Handles the form. A check saves nothing. The page always keeps what was typed. */
export async function submitDraft(visit: AssemblyVisit): Promise<FastifyReply> {
  const sent = visit.form('spec', 'expected_revision', 'do');
  // Browsers send every line break as CR LF.
  const text = sent.spec;
  const [assembly, draft] = await Promise.all([readAssembly(visit), readDraft(visit)]);
  const editor = { text, draft, revision: sent.expected_revision };
  if (sent.do !== 'save' && sent.do !== 'publish') return showEditor(visit, assembly, editor);
  const saved = await submit(visit, ['spec'], () =>
    visit.run(saveTheDraft, { params: { id: assembly.id }, body: { spec: text } }),
  );
  if (!saved.done) return showEditor(visit, assembly, editor, saved.problems);
  if (sent.do === 'publish') return visit.redirect(pagePath(pages.publishAssembly, { id: assembly.id }));
  return visit.redirect(pagePath(pages.assemblyDraft, { id: assembly.id }, { done: 'draft-saved' }));
}

/** Reads the draft. Null before the first save. */
async function readDraft(visit: AssemblyVisit): Promise<ShownDraft | null> {
  try {
    return await visit.read(getDraft, { params: { id: visit.params.id } });
  } catch (error) {
    // For visitors who may see drafts, a missing draft and a missing assembly get the same answer. `readAssembly` has checked that the
    // assembly exists.
    if (error instanceof ServiceError && error.kind === 'notFound') return null;
    throw error;
  }
}

interface EditedDraft {
  readonly text: string;
  readonly draft: ShownDraft | null;
  /** The revision on which the text is based. */
  readonly revision: string;
}

async function showEditor(
  visit: AssemblyVisit,
  assembly: AssemblySubject,
  edited: EditedDraft,
  problems: FormProblems | null = null,
): Promise<FastifyReply> {
  const { text, draft } = edited;
  const report = await check(visit, text);
  const page = assemblyPage(
    visit,
    assembly,
    'draft',
    html`<p class="muted">${
      draft
        ? html`Saved by <span class="foreign">${draft.changed_by.name}</span> ${renderAge(draft.changed_at)}.`
        : visit.request.method === 'POST'
          ? 'Not saved yet: what you typed is stored once you save it.'
          : 'Not saved yet. This is an example to start from.'
    } YAML or JSON. What is saved need not be valid; only a valid draft can be published.</p>
<div class="draft">${renderEditor({ ...edited, assembly, report, problems })}${await renderReport(evaluatorOf(visit), text, report)}</div>`,
    { scripts: ['draft.js', graphScript], hasProblem: problems !== null },
  );
  return visit.show(page, problems?.status ?? 200);
}

/** Finds the problems of a text, also of an empty or unreadable one. */
async function check(visit: AssemblyVisit, spec: string): Promise<ShownReport> {
  const checked = await submit(visit, ['spec'], () =>
    visit.read(validate, { params: { id: visit.params.id }, body: { spec } }),
  );
  if (checked.done) return checked.result;
  const { fields, others } = checked.problems;
  const errors = [...Object.values(fields), ...others].map((message) => ({
    path: '',
    message,
    line: null,
    column: null,
  }));
  return { valid: false, errors, warnings: [] };
}
