import { pages } from '#api/web/paths.ts';
import type { Installation } from '../realistic-installation.ts';
import { type DeclaredPage, declare } from './declared-page.ts';

/** The pages of plugins. */
export function pluginPages({ plugins, people }: Installation): DeclaredPage[] {
  const who = 'owner';
  const params = { id: plugins.dns };
  const tabs = ['assignments', 'ceiling', 'principals', 'resources', 'releases'].map((tab) =>
    declare(`plugin-${tab}`, pages.plugin, { params, who, query: { tab } }),
  );
  const empty = ['actions', 'assignments', 'ceiling', 'principals', 'resources', 'releases'].map((tab) =>
    declare(`plugin-without-${tab}`, pages.plugin, { params: { id: plugins.empty }, who, query: { tab } }),
  );
  return [
    declare('plugins', pages.plugins, { who }),
    declare('plugins-empty', pages.plugins, { who: 'fjordOwner' }),
    declare('plugins-removed', pages.plugins, { who, query: { deleted: 'true' } }),
    declare('plugin', pages.plugin, { params, who }),
    ...['assignments', 'ceiling'].map((tab) =>
      declare(`plugin-removed-${tab}`, pages.plugin, { params: { id: plugins.removed }, who, query: { tab } }),
    ),
    ...tabs,
    ...empty,
    declare('plugin-deleted-resources', pages.plugin, { params, who, query: { tab: 'resources', deleted: 'true' } }),
    declare('plugin-stale-ceiling', pages.plugin, { params: { id: plugins.stale }, who, query: { tab: 'ceiling' } }),
    ...answers({ plugin: plugins.dns, requester: people.requester.id }),
    declare('plugin-assignments-filtered', pages.plugin, {
      params,
      who,
      query: { tab: 'assignments', state: 'ended', action: 'zone.sync' },
    }),
    declare('plugin-assignments-none', pages.plugin, { params, who, query: { tab: 'assignments', subject: 'nobody' } }),
    declare('plugin-release', pages.plugin, { params, who, query: { tab: 'releases', release: '1.4.0' } }),
    declare('plugin-release-unknown', pages.plugin, { params, who, query: { tab: 'releases', release: '9.9.9' } }),
    declare('plugin-resource', pages.pluginResource, { params: { id: plugins.zone }, who }),
    declare('plugin-resource-of-strangers', pages.pluginResource, {
      params: { id: plugins.zone },
      who: 'fjordOwner',
      answers: 404,
    }),
    declare('plugin-of-strangers', pages.plugin, { params, who: 'fjordOwner', answers: 404 }),
  ];
}

/** What the page answers to the question of who may do what. */
function answers({ plugin, requester }: { plugin: string; requester: string }): DeclaredPage[] {
  const ask = (name: string, question: Record<string, string>) =>
    declare(`plugin-question-${name}`, pages.plugin, {
      params: { id: plugin },
      who: 'owner',
      query: { tab: 'assignments', ...question },
    });
  return [
    ask('yes', { who: 'Nightly synchronization', what: 'zone.sync', where: 'Platform' }),
    ask('no', { who: requester, what: 'zone.sync', where: 'Platform' }),
    ask('ceiling', { who: requester, what: 'zone.read', where: 'Platform' }),
    ask('unknown', { who: 'nobody', what: 'zone.sync', where: 'Platform' }),
    ask('choices', { what: 'zone.sync', where: 'Northwind' }),
  ];
}
