import { renderIcon } from '#api/web/components/icon.ts';
import { renderCancel } from '#api/web/forms/form.ts';
import type { FormProblems } from '#api/web/forms/problems.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { toSentence } from '#api/web/text.ts';
import { type AssemblySubject, assemblyPath, type ShownReport } from '../views.ts';

/** The maximum number of lines with line numbers. */
const maxNumbered = 5_000;

export interface Editor {
  readonly assembly: AssemblySubject;
  readonly text: string;
  readonly revision: string;
  readonly report: ShownReport;
  readonly problems: FormProblems | null;
}

/** The text with its line numbers, and messages beside their lines. One form has all buttons, so that no typed text is lost. */
export function renderEditor({ assembly, text, revision, report, problems }: Editor): Html {
  const { id, actions } = assembly;
  const whyNot = actions.find(({ name, allowed }) => name === 'save_draft' && !allowed)?.reason;
  const hasNotes = [...report.errors, ...report.warnings].some(({ line }) => line !== null);
  return html`<form class="draft-form" method="post" action="${pagePath(pages.assemblyDraft, { id })}" data-draft>
<input type="hidden" name="expected_revision" value="${revision}">
${problems ? renderRefusal(problems) : null}
<div class="${hasNotes ? 'draft-editor has-notes' : 'draft-editor'}">
${renderNumbers(text, report)}
<textarea class="draft-text" id="spec" name="spec" aria-label="Draft" aria-describedby="draft-keys" wrap="off" spellcheck="false" autocomplete="off" autocapitalize="none" rows="${Math.max(24, countLines(text) + 1)}">
${text}</textarea>
${renderNotes(report)}
</div>
<p class="muted draft-keys" id="draft-keys">Tab indents where scripts run. To leave the editor by keyboard, press Esc, then Tab.</p>
<div class="form-end">
<button class="button" type="submit" name="do" value="validate">${renderIcon('list-checks')}Validate</button>
${
  whyNot
    ? html`<span class="muted">${toSentence(whyNot)}</span>`
    : html`<button class="button button-primary" type="submit" name="do" value="save">Save draft</button>
<button class="button" type="submit" name="do" value="publish">${renderIcon('rocket')}Save and publish…</button>`
}
${renderCancel(assemblyPath({ id }))}
</div>
</form>`;
}

function renderRefusal({ fields, others, code }: FormProblems): Html {
  const texts = [...Object.values(fields), ...others];
  return html`<div class="notice notice-problem" role="alert" tabindex="-1" data-focus>${renderIcon('octagon-x')}<div>
${texts.map((each) => html`<p class="foreign">${each}</p>`)}
<p>Nothing was saved. Your text is below.${code === 'stale_revision' ? ' Another person saved the draft after you opened it: compare it in another tab, then save again from there.' : null}</p></div></div>`;
}

function countLines(text: string): number {
  return text.split('\n').length;
}

/** The line numbers. Lines with problems are marked, and messages link to them. */
function renderNumbers(text: string, { errors, warnings }: ShownReport): Html {
  const numbers = Array.from({ length: Math.min(countLines(text), maxNumbered) }, (_, index) => index + 1);
  const wrong = new Set(errors.map(({ line }) => line));
  const doubtful = new Set(warnings.map(({ line }) => line));
  return html`<pre class="draft-numbers" id="draft-numbers" aria-hidden="true">${numbers.map((line) => {
    if (wrong.has(line)) return html`<mark class="line-wrong" id="L${line}">${line}</mark>\n`;
    return doubtful.has(line) ? html`<mark class="line-doubtful" id="L${line}">${line}</mark>\n` : `${line}\n`;
  })}</pre>`;
}

/** The messages, each at the height of its line. The list below the editor repeats them, so that everybody can read them. */
function renderNotes({ errors, warnings }: ShownReport): Html {
  const byLine = Map.groupBy([...errors, ...warnings], ({ line }) => line);
  const last = Math.min(maxNumbered, Math.max(0, ...[...byLine.keys()].map((line) => line ?? 0)));
  const lines = Array.from({ length: last }, (_, index) => byLine.get(index + 1) ?? []);
  return html`<pre class="draft-notes" id="draft-notes" aria-hidden="true">
${lines.map((problems) =>
  problems.length === 0
    ? '\n'
    : html`<span class="draft-note${problems.some((each) => errors.includes(each)) ? '' : ' note-doubtful'}" title="${problems.map(({ message }) => message).join('\n')}">${problems.map(({ message }) => message.replaceAll(/\s+/g, ' ')).join(' · ')}</span>\n`,
)}</pre>`;
}
