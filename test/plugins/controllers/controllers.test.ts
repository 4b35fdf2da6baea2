import { describe } from 'vitest'
import { protocols, suiteOf } from '../../support/protocols.ts'

for (const protocol of protocols) {
  const suites = ['controllers-routes', 'controllers-order', 'controllers-inheritance', 'controllers-misuse'] as const
  for (const name of suites) describe(`${name} (${protocol})`, await suiteOf(name, protocol))
}
