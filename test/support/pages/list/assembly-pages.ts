import { pages } from '#api/web/paths.ts';
import type { Installation } from '../realistic-installation.ts';
import { type DeclaredPage, declare } from './declared-page.ts';

const pictured = { isPictured: true };

/** The pages of assemblies: lists, versions, the editor, and a run in each state. */
export function assemblyPages({ assemblies }: Installation): DeclaredPage[] {
  const { shop, regions, shards, wrong, empty } = assemblies;
  const params = { id: shop.id };
  const owner = 'owner';
  const runs = Object.entries(shop.runs).map(([key, runID]) =>
    declare(`assembly-run-${key}`, pages.assemblyRun, {
      params: { id: shop.id, runID },
      isPictured: key === 'waiting' || key === 'failed',
    }),
  );
  const failed = { id: shop.id, runID: shop.runs.failed };
  return [
    declare('assemblies', pages.assemblies, pictured),
    declare('assemblies-empty', pages.assemblies, { who: 'nobody' }),
    declare('assemblies-none-found', pages.assemblies, { query: { q: 'nothing has this name' } }),
    declare('assembly-new', pages.newAssembly, { who: owner }),
    declare('assembly', pages.assembly, { params, ...pictured }),
    declare('assembly-viewed', pages.assembly, { params, who: 'viewer' }),
    declare('assembly-of-strangers', pages.assembly, { answers: 404, params, who: 'fjordOwner' }),
    declare('assembly-unpublished', pages.assembly, { params: { id: empty.id }, who: owner }),
    declare('assembly-large', pages.assembly, { params: { id: shards.id } }),
    declare('assembly-versions', pages.assembly, { params, query: { tab: 'versions' } }),
    declare('assembly-version', pages.assemblyVersion, { params: { id: shop.id, version: '1.0.0' } }),
    declare('assembly-compare', pages.assembly, { params, query: { tab: 'compare' }, ...pictured }),
    declare('assembly-compare-unknown', pages.assembly, {
      answers: 404,
      params,
      query: { tab: 'compare', from: '9.9.9', to: 'latest' },
    }),
    declare('assembly-runs', pages.assembly, { params, query: { tab: 'runs' } }),
    declare('assembly-runs-none', pages.assembly, { params: { id: wrong.id }, query: { tab: 'runs' } }),
    declare('assembly-edit', pages.editAssembly, { params, who: owner }),
    declare('assembly-archive', pages.archiveAssembly, { params, who: owner }),
    declare('assembly-unarchive', pages.unarchiveAssembly, { params, who: owner }),
    declare('assembly-delete', pages.deleteAssembly, { params, who: owner }),
    declare('draft', pages.assemblyDraft, { params, who: owner }),
    declare('draft-wrong', pages.assemblyDraft, { params: { id: wrong.id }, who: owner, ...pictured }),
    declare('draft-new', pages.assemblyDraft, { params: { id: empty.id }, who: owner }),
    declare('draft-hidden', pages.assemblyDraft, { answers: 404, params, who: 'viewer' }),
    declare('publish-assembly', pages.publishAssembly, { params, who: owner }),
    declare('publish-wrong', pages.publishAssembly, { params: { id: wrong.id }, who: owner }),
    declare('assembly-start', pages.runAssembly, { params, ...pictured }),
    declare('assembly-again', pages.runAssembly, { params, query: { from: shop.runs.succeeded } }),
    ...runs,
    declare('assembly-run-details', pages.assemblyRun, {
      params: { id: shop.id, runID: shop.runs.succeeded },
      query: { tab: 'details' },
    }),
    declare('assembly-run-events', pages.assemblyRun, { params: failed, query: { tab: 'events' } }),
    declare('assembly-run-of-40', pages.assemblyRun, {
      params: { id: regions.id, runID: regions.runs.running },
      ...pictured,
    }),
    declare('assembly-run-of-500', pages.assemblyRun, { params: { id: shards.id, runID: shards.runs.running } }),
    declare('assembly-run-cancel', pages.cancelAssemblyRun, { params: { id: shop.id, runID: shop.runs.running } }),
    declare('assembly-run-resume', pages.resumeAssemblyRun, { params: failed }),
  ];
}
