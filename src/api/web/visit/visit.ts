import type { FastifyReply, FastifyRequest } from 'fastify';
import { describeAuthority, findProtected } from '#api/pipeline/actions.ts';
import type { EncodedAnswerOf, Responses } from '#api/pipeline/answers/answer-types.ts';
import type { CommandOperation, Erased, Operation, ReadOperation } from '#api/pipeline/operation.ts';
import type { Em } from '#database/database.ts';
import type { NamedKind } from '#domain/searched-kinds.ts';
import type { Ownership } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import type { Action } from '#domain/shared/actions.ts';
import { Invalid } from '#domain/shared/errors.ts';
import { fieldProblemsOf } from '#domain/shared/validation/validation-messages.ts';
import { readForm, revisionName } from '../forms/read-form.ts';
import type { Frame } from '../frame/frame.ts';
import type { Offered } from '../frame/navigation.ts';
import { type BarCounts, readFrame } from '../frame/read-frame.ts';
import { type Page, seeOther, sendPage } from '../layout.ts';
import { type Producer, streamForPage } from '../live/stream.ts';
import type { LocalPath } from '../paths.ts';
import {
  type FileInput,
  type PageInput,
  type PageProblem,
  type PageServices,
  readForPage,
  runForPage,
  type ShownAnswer,
  sendForPage,
} from './operations.ts';
import { readScope, type Scope } from './scope.ts';
import { keepPath } from './sent-form.ts';
import { isSignedIn } from './signed-in.ts';

/** Services that every page needs. */
export interface PageContext extends PageServices, Offered {
  /** Counts the numbers of the bar above every page. */
  readonly countForBar: (visit: Visit) => Promise<BarCounts>;
  /** As in `Visit.findNamed`. */
  readonly findNamed: FindNamed;
}

type FindNamed = (
  visit: Visit<unknown>,
  names: readonly string[],
  kinds?: readonly NamedKind[],
) => Promise<ReadonlyMap<string, readonly string[]>>;

/** One request for a page: its visitor, its address, and methods to answer it. */
export class Visit<Params = unknown> {
  readonly context: PageContext;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  /**
   * The problems that the page has found in a form. While there are any, `run` carries nothing out. Its error lists all of them, together
   * with those that the operation finds in the body. If a page throws a problem instead, the form shows only that one.
   */
  readonly problems: PageProblem[] = [];

  constructor(context: PageContext, request: FastifyRequest, reply: FastifyReply) {
    this.context = context;
    this.request = request;
    this.reply = reply;
  }

  /** The visitor, or `anonymous`. */
  get principal(): Principal {
    return this.request.principal;
  }

  /** The parameters of the path. The operation that the page invokes validates them. */
  get params(): Params {
    return this.request.params as Params;
  }

  /** The organization or team that the address selects. */
  get scope(): Scope {
    return readScope((name) => this.query(name));
  }

  /** For reads without an operation, such as names. */
  get em(): Em {
    return this.context.services.orm.em.fork();
  }

  /** A parameter of the query; undefined if it is missing or empty, because forms send empty fields. */
  query(name: string): string | undefined {
    const values = this.queryAll(name);
    if (values.length > 1) throw new Invalid(`the address has the parameter "${name}" more than once`);
    return values[0];
  }

  /** All values of a parameter of the query that may be repeated. */
  queryAll(name: string): string[] {
    const given = (this.request.query as Readonly<Record<string, string | string[] | undefined>>)[name];
    return [given ?? []].flat().filter((value) => value !== '');
  }

  /** The fields of the submitted form, without its key. @throws Invalid for an unknown or repeated field */
  form<Name extends string>(...names: readonly Name[]): Record<Name, string> {
    const { key: _, ...typed } = readForm(this.request.body, [...names, 'key']);
    return typed as Record<Name, string>;
  }

  /** The revision that the submitted form was opened for, which `run` sends; undefined if the form was sent without one. */
  get openedFor(): number | undefined {
    const revision = this.#sent(revisionName);
    return revision === undefined ? undefined : Number(revision);
  }

  /**
   * Adds a problem of a field. `run` reports it, so that the form can first look for others.
   * @param bodyPaths the places of the value in the body, if they differ from the field's name
   */
  addProblem(field: string, problem: string, ...bodyPaths: readonly string[]): void {
    this.problems.push({ in: 'body', path: field, message: `${field}: ${problem}`, bodyPaths });
  }

  /** Adds a problem for an empty field, unless the field has one already. */
  addMissing(field: string, problem: string, ...bodyPaths: readonly string[]): void {
    const index = this.problems.findIndex(({ path }) => path === field);
    const known = this.problems[index];
    if (known) this.problems[index] = { ...known, bodyPaths: [...(known.bodyPaths ?? []), field, ...bodyPaths] };
    else this.addProblem(field, problem, ...bodyPaths);
  }

  /** Reads a part of the form. If that fails, adds its problems, which `run` reports, and returns undefined. */
  collect<Value>(read: () => Value): Value | undefined {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof Invalid)) throw error;
      this.problems.push(...fieldProblemsOf(error));
      return undefined;
    }
  }

  /** Invokes a read operation for the visitor, and returns the body that the API would send. */
  read<S extends Responses>(operation: ReadOperation<S>, input?: PageInput): Promise<EncodedAnswerOf<S>> {
    return readForPage(this.context, this.request, operation, input);
  }

  /** Sends the answer of a read operation in one media type, such as text. */
  async send(operation: ReadOperation, input: FileInput): Promise<FastifyReply> {
    await sendForPage(this.context, this.request, this.reply, operation, input);
    return this.reply;
  }

  /**
   * Invokes a command for the visitor, and returns the body that the API would send. The field `key` of the submitted form is its
   * idempotency key, and `expected_revision` is the revision that the command compares. A form therefore invokes only one command, and is
   * carried out once however often it is sent.
   */
  run<S extends Responses, A extends ReadOperation | undefined>(
    operation: CommandOperation<S, Erased, A>,
    input: PageInput = {},
  ): Promise<ShownAnswer<S, A>> {
    return runForPage(this.context, this.request, this.reply, operation, {
      ...input,
      key: this.#sent('key'),
      openedFor: this.openedFor,
      problems: this.problems,
    });
  }

  /**
   * Finds the ids of things with exactly one of these names, in any case, alone or after the name of the owner, as in "Network /
   * Development". Searches everything that the visitor may read, or only some kinds. A lookup is one costly read, so a form looks up all of
   * its names together.
   */
  async findNamed(
    names: readonly string[],
    kinds?: readonly NamedKind[],
  ): Promise<(name: string) => readonly string[]> {
    const found = await this.context.findNamed(this, names, kinds);
    return (name) => found.get(name) ?? [];
  }

  /** Answers with a stream of events about the resource of a read operation. It ends when the visitor may no longer read that. */
  stream(operation: ReadOperation, input: PageInput, produce: Producer): Promise<FastifyReply> {
    return streamForPage(this, operation, input, produce);
  }

  /**
   * Decides as the operation itself would: for at least one of the targets or, without targets, whether the visitor's permissions allow it
   * anywhere. Use it for things without `actions` of their own, such as a list or a new resource.
   */
  mayDo({ id }: Pick<Operation, 'id'>, ...targets: readonly (Ownership | undefined)[]): Action {
    return describeAuthority(findProtected(this.context.operations, id), this.principal, targets);
  }

  /** Answers with a page, inside the frame of the service if the visitor is signed in. */
  async show(page: Page, status = 200): Promise<FastifyReply> {
    const frame = isSignedIn(this.request) && !page.isBare ? await this.#readFrame() : null;
    return sendPage(this.request, this.reply, status, page, frame);
  }

  /** A hidden field of the submitted form. */
  #sent(name: string): string | undefined {
    const { [name]: sent } = Object(this.request.body) as Readonly<Record<string, unknown>>;
    return typeof sent === 'string' && sent !== '' ? sent : undefined;
  }

  #readFrame(): Promise<Frame> {
    const { principal, request, scope, context } = this;
    const { operations, navigation } = context;
    const framed = { principal, address: request.url, scope, operations, navigation };
    return readFrame(this.em, framed, () => context.countForBar(this));
  }

  /** Redirects the browser to another page, by GET. If the form is submitted again, it redirects there again. */
  async redirect(path: LocalPath): Promise<FastifyReply> {
    await keepPath(this, path);
    return seeOther(this.reply, path);
  }
}
