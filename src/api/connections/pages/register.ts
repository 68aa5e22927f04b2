import { pages } from '#api/web/paths.ts';
import type { AddPage } from '#api/web/visit/route.ts';
import { registerBindingForms } from './binding-forms.ts';
import { showConnection } from './connection-page.ts';
import { registerConnectionForms } from './forms.ts';
import { showConnections } from './list-page.ts';
import { registerConnectionTest } from './test-form.ts';

/** Adds the pages of connections. */
export function registerConnectionPages(addPage: AddPage): void {
  addPage('GET', pages.connections, showConnections);
  registerConnectionForms(addPage);
  addPage('GET', pages.connection, showConnection);
  registerConnectionTest(addPage);
  registerBindingForms(addPage);
}
