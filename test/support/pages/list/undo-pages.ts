import { pages } from '#api/web/paths.ts';
import type { Installation } from '../realistic-installation.ts';
import { type DeclaredPage, declare } from './declared-page.ts';

/** The pages by which people undo what a run changed. */
export function undoPages({ runs, undo }: Installation): DeclaredPage[] {
  const of = (key: keyof typeof undo) => ({ params: { id: undo[key] } });
  return [
    declare('undo-run', pages.undoRun, { params: { id: undo.run } }),
    declare('undo-run-refused', pages.undoRun, { params: { id: runs.planFailed.id } }),
    declare('undo-checking', pages.selectiveUndo, of('checking')),
    declare('undo-ready', pages.selectiveUndo, of('ready')),
    declare('undo-conflicted', pages.selectiveUndo, { ...of('conflicted'), isPictured: true }),
    declare('undo-blocked', pages.selectiveUndo, of('blocked')),
    declare('undo-promotable', pages.selectiveUndo, { ...of('promotable'), isPictured: true }),
    declare('undo-viewed', pages.selectiveUndo, { ...of('promotable'), who: 'viewer' }),
    declare('undo-of-strangers', pages.selectiveUndo, { ...of('promotable'), who: 'fjordOwner', answers: 404 }),
    declare('undo-plan', pages.planUndo, of('ready')),
    declare('undo-promote', pages.promoteUndo, { ...of('promotable'), isPictured: true }),
    declare('undo-promote-refused', pages.promoteUndo, of('conflicted')),
  ];
}
