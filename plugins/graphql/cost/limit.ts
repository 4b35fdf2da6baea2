import type { DocumentNode, GraphQLSchema, OperationDefinitionNode } from 'graphql'
import type { Variables } from '../execution/execute.ts'
import { type Refusal, refuse, refuseFailure } from '../execution/refusal.ts'
import type { CostSettings } from '../options.ts'
import type { Graphql } from '../packages.ts'
import { type CostBasis, Estimate, Uncountable } from './estimate.ts'
import { Values } from './variables.ts'
import { weightsOf } from './weights.ts'

/** Refuses an operation that is too expensive, before it is executed. */
export type CheckCost = (variables: Variables) => Refusal | undefined

/** The number of results that are kept for one operation, by the variables on which they depend. */
const maxCosts = 50
const longestKey = 200

/** Makes the check of one operation; if the cost depends on no variable, it is decided once. */
export type CostLimit = (document: DocumentNode, operation: OperationDefinitionNode) => CheckCost

/** Limits the cost of operations. */
export function costLimit(graphql: Graphql, schema: GraphQLSchema, settings: CostSettings): CostLimit {
  const { max, listSize } = settings
  const basis: CostBasis = { graphql, schema, listSize, weightOf: weightsOf(graphql, settings) }
  return (document, operation) => {
    const check = (variables: Variables) => {
      const values = new Values(graphql, operation, variables)
      return { refusal: refusalOf(() => new Estimate(basis, document, values).of(operation), max), used: values.used }
    }
    const first = check(undefined)
    if (first.used.size === 0) return () => first.refusal
    // With other values, the cost may depend on further variables, which the keys of the kept results do not include.
    let names = [...first.used]
    const kept = new Map<string, Refusal | undefined>()
    const keyOf = (variables: Variables) => JSON.stringify(names.map((name) => variables?.[name] ?? null))
    return (variables) => {
      const known = keyOf(variables)
      if (kept.has(known)) return kept.get(known)
      const { refusal, used } = check(variables)
      if ([...used].some((name) => !names.includes(name))) {
        names = [...new Set([...names, ...used])]
        kept.clear()
      }
      const key = keyOf(variables)
      if (key.length <= longestKey && kept.size < maxCosts) kept.set(key, refusal)
      return refusal
    }
  }
}

function refusalOf(estimate: () => number, max: number): Refusal | undefined {
  try {
    const cost = estimate()
    return cost > max ? tooDear(cost, max) : undefined
  } catch (error) {
    // Possible only if the limit of the depth is turned off.
    if (error instanceof RangeError) return refuse(400, 'The operation nests too deep.', 'LIMIT_EXCEEDED')
    if (error instanceof Uncountable) return refuse(400, error.message, 'COST_LIMIT_EXCEEDED')
    throw error
  }
}

function tooDear(cost: number, max: number): Refusal {
  const shown = Math.min(cost, Number.MAX_SAFE_INTEGER)
  const message = `The operation costs ${shown}, and the limit is ${max}. Request fewer fields or shorter lists.`
  return refuseFailure(400, { message, extensions: { code: 'COST_LIMIT_EXCEEDED', cost: shown, max } })
}
