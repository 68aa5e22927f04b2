import { renderIcon } from '#api/web/components/icon.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { toSentence } from '#api/web/text.ts';
import type { CheckFinding } from '#domain/registry/checks/model.ts';
import type { ShownRun } from '../run-tab.ts';

/** Warns of errors in the run's version that a check found after its publication. Publication itself refuses errors. */
export function renderLateErrors(
  { template_id: id, template_version: version }: ShownRun,
  errors: readonly CheckFinding[],
): Html | null {
  const [first, ...others] = errors;
  if (first === undefined) return null;
  const { file, line, message } = first;
  const place =
    file === undefined ? null : html` <code class="foreign">${line === undefined ? file : `${file}:${line}`}</code>`;
  const more =
    others.length === 0 ? 'See the version' : others.length === 1 ? 'See 1 more' : `See ${others.length} more`;
  return html`<div class="notice notice-wait">${renderIcon('triangle-alert')}<p><strong>A check found errors in this version after it was published.</strong>${place} <span class="foreign">${toSentence(message)}</span> <a href="${pagePath(pages.templateVersion, { id, version })}#check">${more}</a></p></div>`;
}
