import { pages } from '#api/web/paths.ts';
import type { AddPage } from '#api/web/visit/route.ts';
import { showChannel } from './channel-page.ts';
import { registerChannelForms } from './forms.ts';
import { showChannels } from './list-page.ts';
import { registerChannelRotation } from './secret-page.ts';
import { registerSubscriptionForms } from './subscription-forms.ts';
import { registerChannelTest } from './test-form.ts';

/** Adds the pages of notification channels. */
export function registerChannelPages(addPage: AddPage): void {
  addPage('GET', pages.notificationChannels, showChannels);
  registerChannelForms(addPage);
  addPage('GET', pages.notificationChannel, showChannel);
  registerChannelRotation(addPage);
  registerChannelTest(addPage);
  registerSubscriptionForms(addPage);
}
