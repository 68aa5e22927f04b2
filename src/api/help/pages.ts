import { readFileSync } from 'node:fs';
import { renderPageHead } from '#api/web/components/page-head.ts';
import { html } from '#api/web/html.ts';
import { renderMarkdown } from '#api/web/markdown.ts';
import { pages } from '#api/web/paths.ts';
import type { AddPage } from '#api/web/visit/route.ts';

/** Adds the pages of documentation to which forms link. */
export function registerHelp(addPage: AddPage): void {
  const file = readFileSync(new URL('../../../docs/writing-templates.md', import.meta.url), 'utf8');
  const [, title = '', text = ''] = /^# (.+)\n([\s\S]*)$/.exec(file) ?? [];
  const content = renderMarkdown(text, 1);
  addPage('GET', pages.templateGuide, (visit) =>
    visit.show({
      title,
      main: html`<div class="page">${renderPageHead({ title, crumbs: [] })}<div class="panel readme">${content}</div></div>`,
    }),
  );
}
