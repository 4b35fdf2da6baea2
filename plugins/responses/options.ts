import type { OptionPlace } from '../../kernel/index.ts'

/** The schemas of a route, unchanged, if their keys are statuses: the types of `res.ok()` and the others depend on these alone. */
export function responsesOfRoute(
  given: unknown,
  place: OptionPlace,
): { readonly [status: string]: object } | undefined {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    return void place.wrong(given, 'an object from status to schema, { 200: User }')
  }
  for (const key of Object.keys(given).filter((one) => !/^[2-5]\d\d$/.test(one))) {
    place.problem(
      `the option "${place.in(key).path}" is not a status of a response: the keys are statuses from 200 to 599`,
    )
  }
  return given as { readonly [status: string]: object }
}
