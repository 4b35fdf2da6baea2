import { Trace, type WorkKind, workKind } from 'framework/kernel'

export interface Run {
  readonly workflow: string
  readonly id: string
}
export interface Step extends Run {
  readonly step: string
}

export const runTrace = new Trace<Run>('workflow.run')
export const stepTrace = new Trace<Step>('workflow.step')

const shared = {
  // The package makes the spans itself, and links them to the request that has started the run.
  for: ['inspector', 'metrics'],
  list: { id: 'workflows', title: 'Workflows' },
  data: ({ ...event }: Run) => event,
} as const
const workflow = { attribute: 'app.workflow', of: (run: Run) => run.workflow }

export const work: readonly WorkKind[] = [
  workKind<Run>({
    ...shared,
    channel: 'workflow.run',
    help: 'Runs of workflows, each from one pause to the next',
    span: (run) => `workflow ${run.workflow}`,
    labels: { workflow },
  }),
  workKind<Step>({
    ...shared,
    channel: 'workflow.step',
    help: 'Attempts at steps of workflows',
    span: (step) => `step ${step.workflow} ${step.step}`,
    labels: { workflow, step: { attribute: 'app.step', of: ({ step }) => step } },
  }),
]
