import type { Area } from '#api/web/declarations/area.ts';
import { pages } from '#api/web/paths.ts';
import { registerCatalog } from './pages/register.ts';
import * as proposals from './proposal-operations.ts';
import * as templates from './template-operations.ts';
import * as versions from './version-operations.ts';

export const area: Area = {
  operations: [templates, proposals, versions],
  tags: {
    templates: 'What can be run.',
    template_versions: 'Published versions of templates, which never change.',
  },
  pages: [registerCatalog],
  navigation: [{ group: null, label: 'Catalog', icon: 'book-open', path: pages.catalog, operation: 'templates.list' }],
};
