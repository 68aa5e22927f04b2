import type { ShownDiff } from '../shown.ts';

/**
 * The version that probably comes next. A removed node destroys what nobody manages any more, and other variables break callers, so
 * both are a new major version; an added node is a minor one.
 */
export function nextVersion(latest: string | null, compared: ShownDiff | null): string {
  const [, major, minor, patch] = /^(\d+)\.(\d+)\.(\d+)/.exec(latest ?? '') ?? [];
  if (major === undefined || compared === null) return '1.0.0';
  const { nodes, fields } = compared;
  const breaks =
    nodes.some(({ change }) => change === 'removed') || fields.some(({ path }) => /^\/variables\/required/.test(path));
  if (breaks) return `${Number(major) + 1}.0.0`;
  if (nodes.some(({ change }) => change === 'added') || fields.length > 0) return `${major}.${Number(minor) + 1}.0`;
  return `${major}.${minor}.${Number(patch) + 1}`;
}
