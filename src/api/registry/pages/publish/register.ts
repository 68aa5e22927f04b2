import { page } from '#api/web/declarations/area.ts';
import { pages } from '#api/web/paths.ts';
import { showPublish, submitPublish } from './publish-page.ts';
import { editTemplateForm, newTemplateForm } from './template-forms.ts';

/** A spec and its files take at most 1 MiB each. */
const publishFormLimit = 3 * 1024 * 1024;

/** The forms that create and change templates, and publish versions. */
export const publishingPages = [
  newTemplateForm,
  editTemplateForm,
  page('GET', pages.publishVersion, (visit) => showPublish(visit)),
  page('POST', pages.publishVersion, submitPublish, { bodyLimit: publishFormLimit, hasFiles: true }),
];
