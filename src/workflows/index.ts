export { assemblyRun } from './assembly-run.ts';
export { pluginRestoration } from './plugin-restoration.ts';
export { run } from './run.ts';
export { scheduledWork } from './scheduled-work.ts';
export { templateCheck } from './template-check.ts';
export { undoCheck } from './undo-check.ts';
