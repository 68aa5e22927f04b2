import { answered, signInAsAdministrator } from './session.ts';

/** A connection and a channel, whose kinds decide what else they have. The compiler knows it. */

const admin = await signInAsAdministrator();
const { id, provides } = await answered(
  admin.POST('/api/v1/admin/connections', {
    body: { name: 'monitoring', kind: 'generic', credentials: { variables: { MONITORING_TOKEN: 'not a real one' } } },
  }),
);
const refused = await admin.POST('/api/v1/admin/connections', {
  // @ts-expect-error: a repository is opened below a URL, and a registry is named by its host.
  body: { name: 'sources', kind: 'git', config: { host: 'git.example.com' }, credentials: { token: 'none' } },
});
const channel = await admin.POST('/api/v1/admin/notification-channels', {
  // @ts-expect-error: only the kind "email" has recipients.
  body: { name: 'chat', kind: 'slack', config: { recipients: ['ana@example.com'] } },
});
const params = { path: { id } };
const { credential_revision: rotated } = await answered(
  admin.POST('/api/v1/admin/connections/{id}/rotate', {
    params,
    body: { credentials: { variables: { MONITORING_TOKEN: 'another one' } } },
  }),
);

console.log(JSON.stringify({ provides, rotated, refused: refused.response.status, channel: channel.response.status }));
