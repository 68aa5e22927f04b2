import type { Area } from '#api/web/declarations/area.ts';
import { pages } from '#api/web/paths.ts';
import * as quotas from './operations.ts';
import { registerQuotaPages } from './pages/register.ts';

export const area: Area = {
  operations: [quotas],
  tags: {
    quotas: 'How much the installation, an organization, a team or an environment may use.',
  },
  pages: [registerQuotaPages],
  navigation: [
    { group: 'Administration', label: 'Quotas', icon: 'gauge', path: pages.quotas, operation: 'quotas.list' },
  ],
};
