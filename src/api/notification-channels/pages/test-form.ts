import type { z } from 'zod';
import { renderPageHead } from '#api/web/components/page-head.ts';
import { renderStatusBadge, type StatusLook } from '#api/web/components/status.ts';
import { type Column, renderTable } from '#api/web/components/table.ts';
import { html } from '#api/web/html.ts';
import type { Page } from '#api/web/layout.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { toSentence } from '#api/web/text.ts';
import { test } from '../message-operations.ts';
import type { ChannelTestView } from '../views.ts';
import { channelCrumbs, channelForm, channelPath, type ShownChannel } from './labels.ts';

/** The form that sends a test by a channel, and shows whether it was accepted. */
export const channelTestForm = channelForm(pages.testNotificationChannel, 'test', {
  describe: (channel) => ({
    title: `Test ${channel.name}`,
    lead: 'Sends a test to every recipient now. This takes up to 40 seconds, and also works while the channel is disabled.',
    submit: 'Send a test',
  }),
  // A form that is submitted twice sends one test, and only the first answer shows the result.
  carryOut: async (channel, _typed, visit) => {
    const result = await visit.run(test, { params: { id: channel.id } });
    return result ? resultPage(channel, result) : channelPath(channel);
  },
});

type Result = z.input<typeof ChannelTestView>['results'][number];

const looks = {
  accepted: { word: 'Accepted', icon: 'circle-check', tone: 'succeeded' },
  failed: { word: 'Failed', icon: 'octagon-x', tone: 'failed' },
} as const satisfies Record<string, StatusLook>;

const columns: Column<Result>[] = [
  { label: 'Recipient', kind: 'main', cell: ({ recipient }) => html`<span class="foreign">${recipient}</span>` },
  { label: 'Result', cell: ({ problem }) => renderStatusBadge(looks[problem === null ? 'accepted' : 'failed']) },
  { label: 'Reason', cell: ({ problem }) => problem && html`<span class="foreign">${toSentence(problem)}</span>` },
];

function resultPage(channel: ShownChannel, { ok, results }: z.input<typeof ChannelTestView>): Page {
  const title = `Test of ${channel.name}`;
  return {
    title,
    main: html`<div class="page page-narrow">
${renderPageHead({
  title,
  crumbs: channelCrumbs(channel),
  beside: renderStatusBadge(looks[ok ? 'accepted' : 'failed']),
  below: ok ? 'Every recipient accepted the test.' : 'Not every recipient accepted the test.',
})}
<div class="list-panel">${renderTable({ caption: 'Recipients', rows: results, columns })}</div>
<div class="form-end"><a class="button button-primary" href="${channelPath(channel)}">Back to the channel</a>
<a class="button" href="${pagePath(pages.testNotificationChannel, { id: channel.id })}">Test again</a></div>
</div>`,
  };
}
