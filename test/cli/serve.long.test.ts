// The same with 200 rapid edits.
import './serve.test.ts'
