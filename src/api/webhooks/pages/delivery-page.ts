import type { FastifyReply } from 'fastify';
import { renderActions } from '#api/web/components/actions.ts';
import { renderConfirmation } from '#api/web/components/confirmation.ts';
import { renderFacts } from '#api/web/components/facts.ts';
import { renderPageHead } from '#api/web/components/page-head.ts';
import { renderStatusBadge } from '#api/web/components/status.ts';
import { renderNextAttempt, renderTime } from '#api/web/components/time.ts';
import type { ConfirmationOf } from '#api/web/confirmations.ts';
import { page } from '#api/web/declarations/area.ts';
import { formPage } from '#api/web/forms/form-page.ts';
import { refusalOf } from '#api/web/forms/resource-forms.ts';
import { html } from '#api/web/html.ts';
import { renderLive, renderStatic } from '#api/web/live/live.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { toSentence } from '#api/web/text.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { getDelivery, redeliver } from '../delivery-operations.ts';
import { renderAnswerText, renderBody, renderTries } from './delivery-content.ts';
import {
  deliveryLooks,
  describeAnswer,
  readShown,
  type ShownDelivery,
  type ShownDeliveryDetails,
  type ShownWebhook,
  webhookCrumbs,
} from './labels.ts';

type DeliveryVisit = Visit<{ id: string; deliveryID: string }>;

interface Subject {
  readonly webhook: ShownWebhook;
  readonly delivery: ShownDeliveryDetails;
}

async function readSubject(visit: DeliveryVisit): Promise<Subject> {
  const { id, deliveryID } = visit.params;
  const [webhook, delivery] = await Promise.all([
    readShown(visit),
    visit.read(getDelivery, { params: { id, deliveryID } }),
  ]);
  return { webhook, delivery };
}

function isWaiting({ status }: ShownDelivery): boolean {
  return status === 'pending' || status === 'retrying';
}

function deliveryPath({ id: deliveryID, webhook_id: id }: ShownDelivery) {
  return pagePath(pages.webhookDelivery, { id, deliveryID });
}

/** Shows a delivery: its attempts, when the next one is due, and the endpoint's last answer. */
async function showDelivery(visit: DeliveryVisit): Promise<FastifyReply> {
  const { webhook, delivery } = await readSubject(visit);
  const { event, status, next_attempt_at: next, paused, last_attempt_at: last } = delivery;
  const content = html`${renderPageHead({
    title: event.type,
    crumbs: webhookCrumbs(webhook),
    beside: renderStatusBadge(deliveryLooks[status]),
    below: 'A message to the endpoint of the webhook, with its recent attempts and the last response.',
    actions: renderActions(webhook.actions, {
      redeliver: {
        label: 'Send again',
        icon: 'refresh-cw',
        path: pagePath(pages.redeliverWebhook, { id: webhook.id, deliveryID: delivery.id }),
      },
    }),
  })}
${delivery.problem && html`<p class="notice notice-problem foreign">${toSentence(delivery.problem)}</p>`}
<div class="panel">${renderFacts([
    ['Attempts', String(delivery.attempts)],
    ['Last attempt', last && renderTime(String(last))],
    ['Next attempt', next && renderNextAttempt(String(next), paused)],
    ['Last response', describeAnswer(delivery.answer)],
    ['Created', renderTime(String(delivery.created_at))],
    ['Message id', html`<code>${delivery.message_id}</code>`],
    ['Event id', html`<code>${event.id}</code>`],
  ])}</div>
${renderTries(delivery.tries)}
${renderAnswerText(delivery.answer)}
${renderBody(delivery.body, webhook)}`;
  const live = { stream: null, address: deliveryPath(delivery), again: '5s' };
  return visit.show({
    title: event.type,
    main: html`<div class="page page-wide">
${renderConfirmation(visit, pages.webhookDelivery)}
${isWaiting(delivery) ? renderLive(live, content) : renderStatic(content)}
</div>`,
  });
}

/** The page of a delivery, and the form that sends its message again. */
export const deliveryPages = [
  page('GET', pages.webhookDelivery, showDelivery),
  formPage(pages.redeliverWebhook, {
    read: readSubject,
    describe: ({ webhook, delivery }) => ({
      title: `Send ${delivery.event.type} again`,
      crumbs: webhookCrumbs(webhook),
      lead: isWaiting(delivery)
        ? 'The message is sent now instead of at its next attempt.'
        : 'The endpoint gets the same message with the same ID again, as a new delivery.',
      fields: [],
      submit: 'Send again',
      cancel: deliveryPath(delivery),
      refusal: refusalOf(webhook.actions, 'redeliver'),
    }),
    carryOut: async ({ webhook: { id }, delivery }, _typed, visit) => {
      const params = { id, deliveryID: delivery.id };
      const repeated = await visit.run(redeliver, { params });
      // A delivery that still waits is only attempted earlier. For one that has ended, a new delivery is made.
      const done: ConfirmationOf<typeof pages.webhookDelivery> = repeated.id === delivery.id ? 'tried' : 'repeated';
      return pagePath(pages.webhookDelivery, { id, deliveryID: repeated.id }, { done });
    },
  }),
];
