import { pages } from '#api/web/paths.ts';
import type { Installation } from '../realistic-installation.ts';
import { type DeclaredPage, declare } from './declared-page.ts';

/** The pages of plugins. */
export function pluginPages({ plugins }: Installation): DeclaredPage[] {
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
    declare('plugin', pages.plugin, { params, who }),
    ...tabs,
    ...empty,
    declare('plugin-deleted-resources', pages.plugin, { params, who, query: { tab: 'resources', deleted: 'true' } }),
    declare('plugin-stale-ceiling', pages.plugin, { params: { id: plugins.stale }, who, query: { tab: 'ceiling' } }),
    declare('plugin-of-strangers', pages.plugin, { params, who: 'fjordOwner', answers: 404 }),
  ];
}
