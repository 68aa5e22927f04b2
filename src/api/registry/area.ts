import { type Area, page } from '#api/web/declarations/area.ts';
import { pages } from '#api/web/paths.ts';
import { showCatalog } from './pages/catalog/catalog-page.ts';
import { publishingPages } from './pages/publish/register.ts';
import { showRunForm, submitRunForm } from './pages/run/run-page.ts';
import { templateLifecycleForms } from './pages/template/lifecycle.ts';
import { showTemplatePage } from './pages/template/template-page.ts';
import { showVersion } from './pages/version/version-page.ts';
import { yankForm } from './pages/version/yank-page.ts';
import * as proposals from './proposal-operations.ts';
import * as templates from './template-operations.ts';
import * as versions from './version-operations.ts';

/** The largest form of a run: its variables may be written as JSON. */
const maxRunFormBytes = 1024 * 1024;

export const area: Area = {
  operations: [templates, proposals, versions],
  tags: {
    templates: 'What can be run.',
    template_versions: 'Published versions of templates, which never change.',
  },
  pages: [
    page('GET', pages.catalog, showCatalog),
    ...publishingPages,
    page('GET', pages.template, showTemplatePage),
    ...templateLifecycleForms,
    page('GET', pages.newRun, showRunForm),
    page('POST', pages.newRun, submitRunForm, { bodyLimit: maxRunFormBytes }),
    page('GET', pages.templateVersion, showVersion),
    yankForm,
  ],
  navigation: [{ group: null, label: 'Catalog', icon: 'book-open', path: pages.catalog, operation: 'templates.list' }],
};
