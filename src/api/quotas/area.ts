import { type Area, page } from '#api/web/declarations/area.ts';
import { pages } from '#api/web/paths.ts';
import * as quotas from './operations.ts';
import { quotaForms } from './pages/forms.ts';
import { showQuotas } from './pages/list-page.ts';
import { showQuotaPage } from './pages/quota-page.ts';

export const area: Area = {
  operations: [quotas],
  tags: {
    quotas: 'How much the installation, an organization, a team or an environment may use.',
  },
  pages: [page('GET', pages.quotas, showQuotas), ...quotaForms, page('GET', pages.quota, showQuotaPage)],
  navigation: [
    { group: 'Administration', label: 'Quotas', icon: 'gauge', path: pages.quotas, operation: 'quotas.list' },
  ],
};
