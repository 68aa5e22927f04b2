import { newId } from '#domain/shared/ids.ts';
import { addNamed } from '#test/support/api/add-named.ts';
import type { AreaDeclarations } from '#test/support/areas/declaration.ts';
import { webhookPages } from '#test/support/pages/list/webhook-pages.ts';
import { addWebhooks } from '#test/support/pages/webhooks.ts';

/** A webhook to an address that tests may use and nothing answers at. */
const disabled = { name: 'Chat', url: 'http://127.0.0.9:9/hook', events: ['run.*'], enabled: false };

export const access = `
webhooks.list                       webhook:manage                      owned:metadata.read
webhooks.list_events                webhook:manage                      platform
webhooks.create                     webhook:manage                      owned:metadata.write
webhooks.get                        webhook:manage                      owned:metadata.read
webhooks.update                     webhook:manage                      owned:metadata.write
webhooks.delete                     webhook:manage                      owned:metadata.write
webhooks.test                       webhook:manage                      owned:metadata.write
webhooks.rotate                     webhook:manage                      owned:metadata.write
webhooks.list_deliveries            webhook:manage                      owned:metadata.read
webhooks.get_delivery               webhook:manage                      owned:metadata.read
webhooks.redeliver                  webhook:manage                      owned:metadata.write
`;

export const forAdministrators = ['webhooks.create'];

export const hiddenFromOthers = [
  'webhooks.get',
  'webhooks.delete',
  'webhooks.update',
  'webhooks.get_delivery',
  'webhooks.list_deliveries',
  'webhooks.redeliver',
  'webhooks.rotate',
  'webhooks.test',
];

export const resources = {
  webhook: {
    namedBy: ['webhooks'],
    reviewed: 'webhooks',
    add: (_api, root, { team }) => addNamed(root, '/admin/webhooks', { ...disabled, team_id: team }),
  },
  /** One that has failed. */
  delivery: {
    namedBy: [],
    partOf: 'webhook',
    add: async ({ orm }, _root, _place, webhook) => {
      const id = newId();
      await orm.em.fork().execute(
        `insert into webhook_deliveries (id, created_at, webhook_id, event_id, event_type, message_id, status, attempts, due_at)
         values (?, now(), ?, ?, 'run.finished', 'msg_1', 'failed', 9, now())`,
        [id, webhook, newId()],
      );
      return id;
    },
  },
} satisfies AreaDeclarations['resources'];

export const bodies: AreaDeclarations['bodies'] = {
  'webhooks.create': ({ team }) => ({ ...disabled, team_id: team }),
  'webhooks.update': () => ({ name: 'Renamed' }),
  'webhooks.rotate': () => ({}),
};

export const setups: AreaDeclarations['setups'] = {
  'webhooks.redeliver': async ({ root }, { webhook }) => {
    await root.caller.send('PATCH', `/admin/webhooks/${webhook}`, { enabled: true });
    return {};
  },
};

export const answers: AreaDeclarations['answers'] = {
  'webhooks.create': [201, '/api/v1/admin/webhooks/:id'],
  'webhooks.update': [200, '/api/v1/admin/webhooks/:id'],
  'webhooks.delete': [204],
  'webhooks.test': [200],
  'webhooks.rotate': [200, '/api/v1/admin/webhooks/:id'],
  'webhooks.redeliver': [202, '/api/v1/admin/webhooks/:id/deliveries/:newId'],
};

export const replaces: AreaDeclarations['replaces'] = { 'webhooks.redeliver': 'webhook' };

export const namedOwners: AreaDeclarations['namedOwners'] = (['team', 'project', 'organization'] as const).map(
  (owner) => ({
    operation: 'webhooks.create',
    field: `${owner}_id`,
    status: 404,
    names: owner,
    send: (_ids, id) => ['/admin/webhooks', { ...disabled, [`${owner}_id`]: id }],
  }),
);

export const show: AreaDeclarations['show'] = async (api, { people, tenants }) => {
  const webhooks = await addWebhooks(api, people, tenants);
  const { chat, failing, gone, empty, failedDelivery } = webhooks;
  const path = (id: string) => `/admin/webhooks/${id}`;
  return {
    pages: webhookPages(webhooks),
    states: [
      ['chat webhook', path(chat), { enabled: true, failing_since: null }, ['overlap_until']],
      ['failing webhook', path(failing), { enabled: true, pending_deliveries: 2 }, ['failing_since']],
      ['gone webhook', path(gone), { enabled: false, disabled_reason: 'gone' }],
      ['empty webhook', path(empty), { enabled: false, disabled_reason: null, pending_deliveries: 0 }],
      ['failed delivery', `${path(chat)}/deliveries/${failedDelivery}`, { status: 'failed' }],
    ],
  };
};
