import { apiGroup, apiVersion } from '#domain/shared/installation/release.ts';

/** The attributes of an access review beside group and version. */
export interface ResourceAttributes {
  readonly resource: string;
  readonly verb: string;
  readonly name?: string | undefined;
  readonly team_id?: string | undefined;
}

/** The body of an access review. */
export function reviewOf(attributes: ResourceAttributes): { resource_attributes: Record<string, unknown> } {
  return { resource_attributes: { group: apiGroup, version: apiVersion, ...attributes } };
}

interface Poster {
  post(path: string, body?: unknown): Promise<{ status: number; text: string; body: { status: ReviewStatus } }>;
}

export interface ReviewStatus {
  readonly allowed: boolean;
  readonly denied: boolean;
  readonly reason?: { readonly code: string; readonly message: string };
  readonly evaluation_error?: { readonly code: string; readonly message: string };
}

/** Asks can-i and answers the status of the review. */
export async function canI(caller: Poster, verb: string, resource: string, about: Partial<ResourceAttributes> = {}) {
  const answer = await caller.post('/auth/can-i', reviewOf({ resource, verb, ...about }));
  if (answer.status !== 200) throw new Error(`can-i answered ${answer.status}: ${answer.text}`);
  return answer.body.status;
}

/** Asks can-i and answers the code of its reason or error. */
export async function codeOf(caller: Poster, verb: string, resource: string, about: Partial<ResourceAttributes> = {}) {
  const { reason, evaluation_error: error } = await canI(caller, verb, resource, about);
  return (reason ?? error)?.code;
}
