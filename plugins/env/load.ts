import { loadEnvironment } from '../shared/environment/process.ts'

// `import 'framework/env'`: the files of the environment are in `process.env` before the next module is evaluated.
loadEnvironment()
