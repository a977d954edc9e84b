/* Typed arrays by types of C; of complex numbers each element is two numbers. */
const ARRAYS = {
    float: [Float32Array, 1], double: [Float64Array, 1], "float _Complex": [Float32Array, 2],
    "double _Complex": [Float64Array, 2], bool: [Uint8Array, 1],
    int8_t: [Int8Array, 1], int16_t: [Int16Array, 1], int32_t: [Int32Array, 1], int64_t: [BigInt64Array, 1],
    uint8_t: [Uint8Array, 1], uint16_t: [Uint16Array, 1], uint32_t: [Uint32Array, 1], uint64_t: [BigUint64Array, 1],
};
const LARGEST = 2n ** 31n; /* so many bytes no array has where addresses have 32 bits */

/* The quotient that is not larger than the exact one. */
const quotient = (a, b) => a / b - (a % b !== 0n && (a < 0n) !== (b < 0n) ? 1n : 0n);

/* A number as a module takes it: integers of 64 bits are BigInts there. */
function number(name, parameter, value) {
    const { type } = parameter;
    if (type === "float" || type === "double") {
        if (typeof value !== "number")
            throw new TypeError(`${name}: argument '${parameter.name}' must be a number, not ${shown(value)}`);
        return value;
    }
    if (type === "bool") {
        if (typeof value !== "boolean")
            throw new TypeError(`${name}: argument '${parameter.name}' must be true or false, not ${shown(value)}`);
        return Number(value);
    }
    if (typeof value !== "bigint" && !Number.isSafeInteger(value))
        throw new TypeError(`${name}: argument '${parameter.name}' must be an integer, not ${shown(value)}`);
    const [, unsigned, bits] = /^(u?)int(\d+)_t$/.exec(type);
    const fits = unsigned ? BigInt.asUintN(Number(bits), BigInt(value)) : BigInt.asIntN(Number(bits), BigInt(value));
    if (fits !== BigInt(value))
        throw new RangeError(`${name}: argument '${parameter.name}' is ${value}, which ${type} cannot hold`);
    return bits === "64" ? fits : Number(fits);
}

const shown = (value) =>
    value === null || typeof value !== "object" ? `${typeof value} ${String(value)}` : value.constructor?.name ?? "object";

/* How many elements a shape has; what no memory of 32 bits holds is refused here. */
function count(name, parameter, numbers) {
    const [Kind, width] = ARRAYS[parameter.type];
    let found = BigInt(width);
    for (const size of parameter.shape(numbers))
        found *= size < 0n ? 0n : size;
    if (found * BigInt(Kind.BYTES_PER_ELEMENT) >= LARGEST)
        throw new RangeError(`${name}: '${parameter.name}' has ${found} elements, and no array of 2 GiB has room in 32 bits`);
    return Number(found);
}

function checkArray(name, parameter, value, length) {
    const [Kind] = ARRAYS[parameter.type];
    if (!(value instanceof Kind))
        throw new TypeError(`${name}: argument '${parameter.name}' must be a ${Kind.name}, not ${shown(value)}`);
    if (value.length !== length)
        throw new RangeError(
            `${name}: argument '${parameter.name}' has ${value.length} elements, but these sizes make it ${length}`);
}

/* Whether two typed arrays have a byte in common. */
const overlap = (a, b) =>
    a.buffer === b.buffer && a.byteOffset < b.byteOffset + b.byteLength && b.byteOffset < a.byteOffset + a.byteLength;

function checkOverlap(name, arrays) {
    for (const [k, a] of arrays.entries())
        for (const b of arrays.slice(k + 1))
            if ((a.parameter.use === "changed" || b.parameter.use === "changed") && overlap(a.value, b.value))
                throw new RangeError(
                    `${name}: arguments '${a.parameter.name}' and '${b.parameter.name}' overlap, and one is written`);
}

/* Calls a function of a module: arrays are copied into its memory, and those that it writes back. */
function call(exports, kernel, given) {
    const taken = kernel.parameters.filter((p) => p.use === "value" || p.use === "read" || p.use === "changed");
    if (given.length !== taken.length)
        throw new TypeError(
            `${kernel.name} takes ${taken.length} arguments (${taken.map((p) => p.name).join(", ")}), not ${given.length}`);
    const values = new Map(taken.map((parameter, k) => [parameter, given[k]]));
    const numbers = {};
    for (const parameter of taken)
        if (parameter.use === "value") {
            const made = number(kernel.name, parameter, values.get(parameter));
            values.set(parameter, made);
            numbers[parameter.name] = parameter.type === "int64_t" ? made : undefined;
        }
    if (kernel.check !== undefined) {
        const failed = exports[kernel.check](...kernel.sizes.map((size) => numbers[size]));
        if (failed !== 0)
            throw new RangeError(`${kernel.name} requires that ${kernel.conditions[failed - 1] ?? "sizes are smaller"}`);
    }
    const arrays = [];
    for (const parameter of kernel.parameters)
        if (parameter.shape !== undefined) {
            const length = count(kernel.name, parameter, numbers);
            const value = values.get(parameter);
            if (values.has(parameter))
                checkArray(kernel.name, parameter, value, length);
            arrays.push({ parameter, value, length });
        }
    checkOverlap(kernel.name, arrays.filter((a) => a.value !== undefined));
    const places = [];
    try {
        for (const array of arrays) {
            const [Kind] = ARRAYS[array.parameter.type];
            const bytes = Math.max(array.length * Kind.BYTES_PER_ELEMENT, 1);
            const at = exports.malloc(bytes) >>> 0;
            if (at === 0)
                throw new RangeError(`${kernel.name}: there is no memory for the ${bytes} bytes of '${array.parameter.name}'`);
            places.push(at);
            values.set(array.parameter, at);
            const place = new Kind(exports.memory.buffer, at, array.length);
            if (array.value === undefined)
                place.fill(Kind === BigInt64Array || Kind === BigUint64Array ? 0n : 0);
            else
                place.set(array.value);
        }
        const answer = exports[kernel.symbol](...kernel.parameters.map((p) => values.get(p) ?? 0));
        const read = (array) => {
            const [Kind] = ARRAYS[array.parameter.type];
            return new Kind(exports.memory.buffer, values.get(array.parameter), array.length);
        };
        if (kernel.returns === "status" && answer !== 0)
            fail(kernel, answer, arrays.filter((a) => a.parameter.use === "failure").map(read)[0]);
        for (const array of arrays)
            if (array.parameter.use === "changed")
                array.value.set(read(array));
        const found = kernel.results.map((output) => {
            if (output === "")
                return plain(kernel.type, answer);
            const array = arrays.find((a) => a.parameter.name === output);
            return array.parameter.isNumber ? plain(array.parameter.type, read(array)[0]) : read(array).slice();
        });
        return found.length > 1 ? found : found[0];
    } finally {
        for (const at of places)
            exports.free(at);
    }
}

/* A result as JavaScript has it. */
function plain(type, value) {
    const [, unsigned, bits] = /^(u?)int(\d+)_t$/.exec(type) ?? [];
    if (type === "bool")
        return value !== 0;
    return unsigned === "u" && bits === "64" ? BigInt.asUintN(64, value) : unsigned === "u" && bits === "32" ? value >>> 0 : value;
}

function fail(kernel, status, numbers) {
    if (status === 2)
        throw new RangeError(`${kernel.name}: there is no memory for the arrays that the kernel allocates`);
    const [site, ...others] = numbers ?? [];
    const what = kernel.sites[Number(site ?? 0n) - 1] ?? `it ended with status ${status}`;
    throw new RangeError(`${kernel.name}: ${what}${others.length > 0 ? ` (${others.join(", ")})` : ""}`);
}

/* What a module may ask of the system: to write what kernels print, and to end. */
function system(memory) {
    const text = new TextDecoder();
    let line = "";
    const own = {
        fd_write(file, parts, many, written) {
            const view = new DataView(memory().buffer);
            let bytes = 0;
            for (let k = 0; k < many; ++k) {
                const at = view.getUint32(parts + 8 * k, true), length = view.getUint32(parts + 8 * k + 4, true);
                line += text.decode(new Uint8Array(memory().buffer, at, length), { stream: true });
                bytes += length;
            }
            view.setUint32(written, bytes, true);
            const lines = line.split("\n");
            line = lines.pop();
            for (const each of lines)
                console.log(each);
            return 0;
        },
        proc_exit(status) {
            throw new Error(`the module ended with status ${status}`);
        },
    };
    return new Proxy(own, { get: (_, name) => own[name] ?? (() => 52) }); /* ENOSYS: there is nothing of the kind */
}

async function compiled(source) {
    if (source instanceof WebAssembly.Module)
        return source;
    if (source instanceof ArrayBuffer || ArrayBuffer.isView(source))
        return WebAssembly.compile(source);
    if (new URL(source, import.meta.url).protocol === "file:" && typeof process !== "undefined")
        return WebAssembly.compile(await (await import("node:fs/promises")).readFile(new URL(source, import.meta.url)));
    return WebAssembly.compile(await (await fetch(source)).arrayBuffer());
}

/* The kernels as functions on numbers and typed arrays, of the module beside this file, or of a URL, bytes or a module. */
export async function load(source = new URL(MODULE, import.meta.url)) {
    const module = await compiled(source);
    let exports;
    const imports = { wasi_snapshot_preview1: system(() => exports.memory) };
    ({ exports } = await WebAssembly.instantiate(module, imports));
    exports._initialize?.();
    return Object.fromEntries(KERNELS.map((kernel) => [kernel.name, (...given) => call(exports, kernel, given)]));
}
