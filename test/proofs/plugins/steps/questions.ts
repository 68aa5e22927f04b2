import type { PluginAnswer } from '#test/support/plugins/plugin-world.ts';
import type { Assignment, Grant } from '../model/authority.ts';
import {
  drawActor,
  drawAssignment,
  drawPlace,
  drawWanted,
  expectSame,
  isSuccess,
  judge,
  perhapsStale,
  readOwnership,
  type StepWorld,
  subjectOf,
} from './step.ts';

const describe = ({ plugin, action, subject, place }: Assignment) =>
  `${action} of ${plugin} for ${subject} at ${place.type} ${place.id}`;

/** Mostly what somebody was assigned, whether or not that has ended, there or elsewhere. */
function drawQuestion(world: StepWorld): Assignment {
  const { model, random, clients } = world;
  const isAlive = random.chance(0.7);
  const assigned = model.grants.filter((grant) => grant.isAlive === isAlive && clients.has(grant.subject)).slice(-30);
  const grant = assigned.length > 0 && random.chance(0.8) ? random.pick(assigned) : undefined;
  if (!grant)
    return drawWanted(
      () => drawAssignment(world),
      ({ subject }) => clients.has(subject),
    );
  const { subject, plugin, action } = grant;
  if (random.chance(0.5)) return { subject, plugin, action, place: grant.place };
  const place = drawWanted(
    () => drawPlace(world),
    (drawn) => random.chance(0.2) || model.covers(grant.place, drawn),
  );
  return { subject, plugin, action, place };
}

export async function askWhetherAllowed(world: StepWorld): Promise<void> {
  const { model, actions, clients, tally } = world;
  const question = drawQuestion(world);
  const { subject, plugin, action, place } = question;
  const client = clients.get(subject);
  if (!client) return;
  const answer = await client.send('POST', `/plugin-actions/${actions.get(`${plugin} ${action}`)}/check`, {
    selector: place,
  });
  const what = `the use of ${describe(question)} (${answer.text})`;
  const isAllowed = model.mayUse(question);
  tally.note(`use at ${place.type}`, isAllowed);
  tally.note(`use by ${subjectOf(world, subject).type}`, isAllowed);
  tally.note('use', isAllowed);
  if (model.tenants.disabled.has(subject)) return expectSame(what, answer.status, 401);
  if (!model.mayAsk(question)) return expectSame(what, answer.status, 400);
  if (!model.isInstalledFor(plugin, place)) return expectSame(what, answer.status, 404);
  expectSame(what, answer.body?.allowed, isAllowed);
}

export async function assignAction(world: StepWorld): Promise<void> {
  const { model, random, root, actions } = world;
  const [actorId, actor] = drawActor(world);
  const isHopeful = random.chance(0.7);
  const wanted = drawWanted(
    () => drawAssignment(world),
    (each) => !isHopeful || model.mayAssign(actorId, each),
  );
  const { subject, plugin, action, place } = wanted;
  const id = actions.get(`${plugin} ${action}`) ?? '';
  const own = await reviewGrant(world, [actorId, actor], wanted);
  const path = `/plugin-actions/${id}/grant-review`;
  const review = actor === root ? own : await root.client.send('POST', path, { selector: place });
  const expected_ownership = isSuccess(review) ? review.body.ownership : await readOwnership(world, place);
  if (expected_ownership === null) return;
  const { body, isStale } = perhapsStale(world, {
    action_id: id,
    subject: subjectOf(world, subject),
    selector: place,
    expected_installation_revision: model.plugin(plugin).revision,
    expected_action_revision: review.body?.action_revision ?? 1,
    expected_ownership,
  });
  const answer = await actor.command(['POST', '/plugin-action-grants'], body);
  const isExpected = !isStale && model.mayAssign(actorId, wanted);
  world.tally.note(`assignment at ${place.type}`, isExpected);
  world.tally.note(`assignment to ${body.subject.type}`, isExpected);
  if (judge(world, 'assignment', answer, isExpected)) model.assign(answer.body.id, wanted);
}

/** What a review says to somebody, who may not even be able to read the place. */
async function reviewGrant(
  { model, actions, tally }: StepWorld,
  [actorId, actor]: ReturnType<typeof drawActor>,
  { plugin, action, place }: Assignment,
): Promise<PluginAnswer> {
  const path = `/plugin-actions/${actions.get(`${plugin} ${action}`)}/grant-review`;
  const review = await actor.client.send('POST', path, { selector: place });
  const what = `the review of ${action} of ${plugin} at ${place.type} ${place.id} for ${actorId} (${review.text})`;
  const isExpected = model.mayGrant(actorId, { plugin, action, place });
  tally.note('review', isExpected);
  const mayRead = model.isPresent(place) && model.tenants.mayRead(actorId, model.chainOf(place));
  if (!mayRead) expectSame(what, review.status, 400);
  else if (!model.isInstalledFor(plugin, place)) expectSame(what, review.status, 404);
  else expectSame(what, review.body?.may_grant, isExpected);
  return review;
}

export async function revokeAssignment(world: StepWorld): Promise<void> {
  const { model, random } = world;
  const isFresh = random.chance(0.8);
  const grants = model.grants.filter(({ isAlive, isRevoked }) => (isFresh ? isAlive : isRevoked)).slice(-40);
  if (grants.length === 0) return;
  const grant: Grant = random.pick(grants);
  const expected_ownership = await readOwnership(world, grant.place);
  if (expected_ownership === null) return;
  const [actorId, actor] = drawActor(world);
  const { body, isStale } = perhapsStale(world, { expected_revision: 1, expected_ownership });
  const answer = await actor.command(['DELETE', `/plugin-action-grants/${grant.id}`], body);
  const mayRevoke = model.tenants.administers(actorId, model.chainOf(grant.place)) && !grant.isRevoked;
  if (judge(world, 'revocation', answer, mayRevoke && !isStale)) model.revoke(grant);
}
