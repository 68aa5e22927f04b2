import type { FastifyReply } from 'fastify';
import { confirmationPage } from '#api/web/forms/confirmation.ts';
import { type FormProblems, submit } from '#api/web/forms/problems.ts';
import { html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import type { AddPage } from '#api/web/visit/route.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { get } from '../../template-operations.ts';
import { yank } from '../../version-operations.ts';

type VersionVisit = Visit<{ id: string; version: string }>;

export function registerYank(addPage: AddPage): void {
  addPage('GET', pages.yankVersion, (visit) => showYank(visit));
  addPage('POST', pages.yankVersion, submitYank);
}

async function showYank(
  visit: VersionVisit,
  problems: FormProblems | null = null,
  typed: Readonly<Record<string, string>> = {},
): Promise<FastifyReply> {
  const { id, version } = visit.params;
  const { name } = await visit.read(get, { params: { id } });
  const page = confirmationPage({
    title: `Yank ${name} ${version}`,
    crumbs: [
      { label: 'Catalog', path: pagePath(pages.catalog) },
      { label: name, path: pagePath(pages.template, { id }) },
      { label: version, path: pagePath(pages.templateVersion, visit.params) },
    ],
    consequences: html`<p>Ranges such as <code>^1.2</code> and “latest” no longer find this version. That is for good: publish a higher version instead.</p>
<p><strong>What stays:</strong> whoever names the version exactly can still run it, and what it has deployed stays as it is.</p>`,
    fields: [
      {
        name: 'reason',
        label: 'Reason',
        kind: 'area',
        isOptional: true,
        maxLength: 1000,
        hint: 'Everybody who sees the version sees it.',
      },
    ],
    typed,
    problems,
    verb: 'Yank the version',
    action: pagePath(pages.yankVersion, visit.params),
    cancel: pagePath(pages.templateVersion, visit.params),
  });
  return visit.show(page, problems?.status);
}

async function submitYank(visit: VersionVisit): Promise<FastifyReply> {
  const typed = visit.form('reason');
  const sent = await submit(visit, ['reason'], () => visit.run(yank, { params: visit.params, body: typed }));
  if (!sent.done) return showYank(visit, sent.problems, typed);
  return visit.redirect(pagePath(pages.templateVersion, visit.params, { done: 'yanked' }));
}
