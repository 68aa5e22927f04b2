import { pages } from '#api/web/paths.ts';
import type { AddPage } from '#api/web/visit/route.ts';
import { showPublish, submitPublish } from './publish-page.ts';
import { registerEditTemplate, registerNewTemplate } from './template-forms.ts';

/** A spec and its files take at most 1 MiB each. */
const publishFormLimit = 3 * 1024 * 1024;

/** Adds the forms that create and change templates, and publish versions. */
export function registerPublishing(addPage: AddPage): void {
  registerNewTemplate(addPage);
  registerEditTemplate(addPage);
  addPage('GET', pages.publishVersion, (visit) => showPublish(visit));
  addPage('POST', pages.publishVersion, submitPublish, { bodyLimit: publishFormLimit, hasFiles: true });
}
