import { pages } from '#api/web/paths.ts';
import type { AddPage } from '#api/web/visit/route.ts';
import { showCatalog } from './catalog/catalog-page.ts';
import { registerPublishing } from './publish/register.ts';
import { showRunForm, submitRunForm } from './run/run-page.ts';
import { registerTemplateLifecycle } from './template/lifecycle.ts';
import { showTemplatePage } from './template/template-page.ts';
import { showVersion } from './version/version-page.ts';
import { registerYank } from './version/yank-page.ts';

/** The largest form of a run: its variables may be written as JSON. */
const runFormLimit = 1024 * 1024;

/** Adds the catalog, the pages of templates and versions, and the forms to publish and run them. */
export function registerCatalog(addPage: AddPage): void {
  addPage('GET', pages.catalog, showCatalog);
  registerPublishing(addPage);
  addPage('GET', pages.template, showTemplatePage);
  registerTemplateLifecycle(addPage);
  addPage('GET', pages.newRun, showRunForm);
  addPage('POST', pages.newRun, submitRunForm, { bodyLimit: runFormLimit });
  addPage('GET', pages.templateVersion, showVersion);
  registerYank(addPage);
}
