import type { ActionButton, ButtonTone } from '#api/web/components/actions.ts';
import { pagePath, pages } from '#api/web/paths.ts';

/** The button that starts a new attempt to undo a run. */
export function checkAgain(runId: string, tone: ButtonTone): ActionButton {
  return { label: 'Check again', icon: 'refresh-cw', tone, path: pagePath(pages.undoRun, { id: runId }) };
}
