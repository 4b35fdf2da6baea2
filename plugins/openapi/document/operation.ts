import type { Policies } from '../../shared/descriptions/security.ts'
import type { Json } from '../../shared/values/json.ts'
import type { OpenApiOperation } from '../types.ts'
import { apidocOf, mergeBody, mergeParameters, plainMembers } from './apidoc.ts'
import { bodyOf } from './body.ts'
import type { Scene } from './operation-context.ts'
import { parametersOf } from './parameters.ts'
import { responsesOf } from './responses.ts'

/** An operation without its id, which depends on the ids of all others. */
export type Unnamed = Omit<OpenApiOperation, 'operationId'>

/** Describes one route at one of its paths. */
export function operationOf(scene: Scene, tag: string | undefined, policies: Policies): Unnamed {
  const apidoc = apidocOf(scene)
  const { tags, summary, description, security, ...plain } = plainMembers(apidoc, scene.note)
  const parameters = mergeParameters(scene, parametersOf(scene), apidoc.parameters)
  const requestBody = mergeBody(scene, bodyOf(scene), apidoc.requestBody)
  const asked = security ?? policies.of(scene)
  const operation: Json = {
    tags: tags ?? (tag === undefined ? undefined : [tag]),
    summary,
    description,
    parameters: parameters.length > 0 ? parameters : undefined,
    requestBody,
    responses: responsesOf(scene, apidoc),
    security: asked,
    ...plain,
  }
  return operation as unknown as Unnamed
}
