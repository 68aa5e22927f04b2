import type { Area } from '#api/web/declarations/area.ts';
import { pages } from '#api/web/paths.ts';
import * as organizations from './operations.ts';
import { organizationPages } from './pages/organization-page.ts';

export const area: Area = {
  operations: [organizations],
  tags: {
    organizations: 'Tenants. Everything else belongs to one, by its team.',
  },
  pages: [...organizationPages],
  navigation: [
    {
      group: 'Administration',
      label: 'Organizations',
      icon: 'building-2',
      path: pages.organizations,
      operation: 'organizations.list',
    },
  ],
};
