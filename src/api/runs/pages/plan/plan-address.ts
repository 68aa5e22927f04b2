import { type LocalPath, pagePath, pages } from '#api/web/paths.ts';

/** What the address of a plan selects. */
export interface PlanAddress {
  readonly kind?: string | undefined;
  /** A text in the address of a resource or in its attributes that change. */
  readonly q?: string | undefined;
  /** The position after which the page starts. */
  readonly after?: string | undefined;
  /** The position of the only change that is shown, whole. */
  readonly change?: string | undefined;
  /** What the visitor has just decided. */
  readonly reviewed?: 'approved' | 'rejected' | undefined;
}

export function planPath(id: string, { kind, q, after, change, reviewed }: PlanAddress = {}): LocalPath {
  return pagePath(pages.run, { id }, { tab: 'plan', kind, q, after, change, reviewed });
}
