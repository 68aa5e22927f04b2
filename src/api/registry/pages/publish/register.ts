import { pages } from '#api/web/paths.ts';
import type { AddPage } from '#api/web/visit/route.ts';
import { showPublish, submitPublish } from './publish-page.ts';
import { showEdit, showNew, submitEdit, submitNew } from './template-form-page.ts';

/** A readme of 256 KiB may take three times its size in a form. */
const templateFormLimit = 1024 * 1024;
/** A spec and its files take at most 1 MiB each. */
const publishFormLimit = 3 * 1024 * 1024;

/** Adds the forms by which templates are made and changed, and versions published. */
export function registerPublishing(addPage: AddPage): void {
  addPage('GET', pages.newTemplate, (visit) => showNew(visit));
  addPage('POST', pages.newTemplate, submitNew, { bodyLimit: templateFormLimit });
  addPage('GET', pages.editTemplate, (visit) => showEdit(visit));
  addPage('POST', pages.editTemplate, submitEdit, { bodyLimit: templateFormLimit });
  addPage('GET', pages.publishVersion, (visit) => showPublish(visit));
  addPage('POST', pages.publishVersion, submitPublish, { bodyLimit: publishFormLimit, hasFiles: true });
}
