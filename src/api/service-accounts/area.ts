import { type Area, page } from '#api/web/declarations/area.ts';
import { pages } from '#api/web/paths.ts';
import * as keys from './key-operations.ts';
import * as accounts from './operations.ts';
import { accountForms } from './pages/account-forms.ts';
import { showAccount } from './pages/account-page.ts';
import { accountKeyForms } from './pages/key-forms.ts';
import { showAccounts } from './pages/list-page.ts';
import * as transfers from './transfer-operations.ts';

export const area: Area = {
  operations: [accounts, keys, transfers],
  tags: {
    service_accounts: 'Accounts for automation.',
    service_account_keys: 'API keys of service accounts.',
  },
  pages: [
    page('GET', pages.serviceAccounts, showAccounts),
    page('GET', pages.serviceAccount, showAccount),
    ...accountForms,
    ...accountKeyForms,
  ],
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
