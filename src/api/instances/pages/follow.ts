import type { Instance, InstanceVisit } from '#api/environments/pages/instance-table.ts';
import { renderIcon } from '#api/web/components/icon.ts';
import { isYes, yesIf } from '#api/web/forms/fields/yes.ts';
import { refusalOf, revisionField } from '#api/web/forms/resource-forms.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { toSentence } from '#api/web/text.ts';
import { followReasons } from '#domain/following/model.ts';
import { getFollow, replaceFollow } from '../follow-operations.ts';
import { instanceForm, readInstance } from './forms.ts';

const readFollow = (visit: InstanceVisit) => visit.read(getFollow, { params: visit.params });

/** Shows whether the instance gets a run when outputs change with which it was deployed. */
export async function renderFollow(visit: InstanceVisit, { id, actions }: Instance): Promise<Html> {
  const { enabled, authority, stopped_because: stopped, failure } = await readFollow(visit);
  const change = html`<a class="button button-plain" href="${pagePath(pages.instanceFollow, { id })}">${stopped ? 'Save it again' : 'Change'}</a>`;
  const started = html`A run deploys the new values and runs as <span class="foreign">${authority?.name}</span>. It waits for the same approvals as any other.`;
  const words = !enabled
    ? html`<p class="muted">Nothing happens. The page of the instance says that its inputs changed.</p>`
    : stopped
      ? html`<p>No run starts until this setting is saved again.</p>`
      : html`<p>${started}</p>`;
  const problem = stopped ? followReasons[stopped] : (failure?.message ?? null);
  const notice =
    problem &&
    html`<div class="notice notice-problem">${renderIcon('triangle-alert')}<p><strong>${stopped ? 'New values are not deployed any longer.' : 'The last change was not deployed.'}</strong> <span class="foreign">${toSentence(problem)}</span></p></div>`;
  return html`<section class="panel stack"><h2>When outputs that it reads change</h2>
${notice}${words}
${refusalOf(actions, 'set_follow') === null ? html`<div class="actions">${change}</div>` : null}</section>`;
}

/** The form that makes an instance follow the outputs that it reads. */
export const followForm = instanceForm(pages.instanceFollow, 'set_follow', {
  read: async (visit) => ({ ...(await readInstance(visit)), follow: await readFollow(visit) }),
  describe: ({ id, name, follow }) => ({
    title: `When outputs that ${name} reads change`,
    lead: 'An instance can be deployed again when the outputs that it reads change. The run uses the version and variables that are deployed now, and reads the new outputs. It runs as you, as if you had requested it, and needs the usual approvals.',
    fields: [
      {
        name: 'enabled',
        label: 'After a change',
        kind: 'select',
        value: yesIf(follow.enabled),
        choices: [
          { value: yesIf(false), label: 'Do nothing' },
          { value: yesIf(true), label: 'Start a run' },
        ],
      },
      revisionField(follow),
    ],
    submit: 'Save',
    cancel: pagePath(pages.instance, { id }, { tab: 'sharing' }),
  }),
  carryOut: async ({ id }, typed, visit) => {
    await visit.run(replaceFollow, { params: { id }, body: { enabled: isYes(typed['enabled']) } });
    return pagePath(pages.instance, { id }, { tab: 'sharing', done: 'follow-saved' });
  },
});
