import type { Area } from '#api/web/declarations/area.ts';
import { pages } from '#api/web/paths.ts';
import * as keys from './key-operations.ts';
import * as accounts from './operations.ts';
import { registerServiceAccountPages } from './pages/register.ts';
import * as transfers from './transfer-operations.ts';

export const area: Area = {
  operations: [accounts, keys, transfers],
  tags: {
    service_accounts: 'Accounts for automation.',
    service_account_keys: 'API keys of service accounts.',
  },
  pages: [registerServiceAccountPages],
  navigation: [
    {
      group: 'Administration',
      label: 'Service accounts',
      icon: 'bot',
      path: pages.serviceAccounts,
      operation: 'service_accounts.list',
    },
  ],
};
