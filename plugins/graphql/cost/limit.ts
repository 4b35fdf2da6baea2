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

/** Makes the check of one operation; if the cost depends on no variable, it is decided once. */
export type CostLimit = (document: DocumentNode, operation: OperationDefinitionNode) => CheckCost

/** Limits the cost of operations. */
export function costLimit(graphql: Graphql, schema: GraphQLSchema, settings: CostSettings): CostLimit {
  const { max, listSize } = settings
  const basis: CostBasis = { graphql, schema, listSize, weightOf: weightsOf(graphql, schema, settings) }
  return (document, operation) => {
    const check = (variables: Variables) => {
      const values = new Values(graphql, operation, variables)
      const refusal = refusalOf(() => new Estimate(basis, document, values).of(operation), max)
      return { refusal, isVariable: values.areRead }
    }
    const { refusal, isVariable } = check(undefined)
    return isVariable ? (variables) => check(variables).refusal : () => refusal
  }
}

function refusalOf(estimate: () => number, max: number): Refusal | undefined {
  try {
    const cost = estimate()
    if (cost <= max) return undefined
    const shown = Math.min(cost, Number.MAX_SAFE_INTEGER)
    const message = `The operation costs ${shown}, and the limit is ${max}. Request fewer fields or shorter lists.`
    return refuseFailure(400, { message, extensions: { code: 'COST_LIMIT_EXCEEDED', cost: shown, max } })
  } catch (error) {
    // Possible only if the limit of the depth is turned off.
    if (error instanceof RangeError) return refuse(400, 'The operation nests too deep.', 'LIMIT_EXCEEDED')
    if (error instanceof Uncountable) return refuse(400, error.message, 'COST_LIMIT_EXCEEDED')
    throw error
  }
}
