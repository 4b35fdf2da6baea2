// The same on every version of Node.js.
import './hot-path.test.ts'
