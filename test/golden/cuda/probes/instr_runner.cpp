// Runs every kernel of instr.list on a GPU through the driver, writes instr.bin
// and instr.json.
//   runner DIR OUT [seconds]   DIR holds instr.list and ptx/, which
//                              instr/kernels.py writes
//   runner DIR OUT inputs      no GPU: a hash of every input array
//   runner DIR OUT jit         without launches
// Kernels run in a child process: a fault or a hang costs one kernel, the next
// child goes on behind it. Every kernel runs twice (`unstable`: results
// differ).
#include "../instr/inputs.h"
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cuda.h>
#include <dlfcn.h>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>
#define STR2(x) #x
#define STR(x) STR2(x)
// clang-format off
#define DRIVER(X) \
  X(cuInit) X(cuDriverGetVersion) X(cuDeviceGet) X(cuDeviceGetName) \
  X(cuDeviceGetAttribute) X(cuDevicePrimaryCtxRetain) X(cuCtxSetCurrent) \
  X(cuCtxSynchronize) X(cuMemAlloc) X(cuMemcpyHtoD) X(cuMemcpyDtoH) \
  X(cuMemsetD8) X(cuModuleLoadDataEx) X(cuModuleGetFunction) \
  X(cuLaunchKernel) X(cuGetErrorName)
// clang-format on
struct Api {
#define X(f) decltype(&::f) f##_ = nullptr;
  DRIVER(X)
#undef X
  bool load(std::string &why) {
    void *h = nullptr;
    for (const char *p : {"libcuda.so.1"})
      if ((h = dlopen(p, RTLD_NOW | RTLD_LOCAL)))
        break;
    if (!h) {
      why = dlerror();
      return false;
    }
#define X(f)                                                                   \
  if (!(f##_ = reinterpret_cast<decltype(f##_)>(dlsym(h, STR(f))))) {          \
    why = "missing " STR(f);                                                   \
    return false;                                                              \
  }
    DRIVER(X)
#undef X
    return true;
  }
} cu;
using u64 = instr::u64;
using Bytes = std::vector<uint8_t>;
static double now() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}
static u64 fnv(const uint8_t *p, size_t n) {
  u64 h = 0xcbf29ce484222325u;
  for (size_t i = 0; i < n; ++i)
    h = (h ^ p[i]) * 0x100000001b3u;
  return h;
}

struct Out {
  int per, bits;
  size_t bytes, offset;
};
struct Kernel {
  std::string name, module;
  unsigned g[3], b[3];
  instr::Spec spec;
  int bits[4] = {};
  std::vector<std::string> kinds;
  std::vector<Bytes> in;
  std::vector<Out> out;
};
struct Status {
  int state;
  int unstable;
  float us;
  char text[500];
}; // 0 not run, 1 ran, 2 JIT error, 3 launch or run error, 4 hung
struct Shared {
  std::atomic<u64> beat;
  std::atomic<int> phase, at;
  int driver, attr[8];
  char device[128], fatal[300];
  double jit;
  int modules;
};

static std::string json(const std::string &s) {
  std::string r;
  for (unsigned char c : s) {
    if (c == '"' || c == '\\')
      r += '\\', r += char(c);
    else if (c == '\n')
      r += "\\n";
    else if (c >= 32)
      r += char(c);
  }
  return r;
}
static std::string error(CUresult r) {
  const char *s = nullptr;
  cu.cuGetErrorName_(r, &s);
  return s ? s : "error " + std::to_string(int(r));
}

static int child(std::vector<Kernel> &ks, const std::string &dir, Shared &sh,
                 Status *st, uint8_t *output, size_t from, bool launch) {
  auto fatal = [&](const char *what, CUresult r) {
    snprintf(sh.fatal, sizeof sh.fatal, "%s: %s", what, error(r).c_str());
    return 7;
  };
  CUresult r;
  CUdevice dev;
  CUcontext ctx;
  sh.phase = 1;
  if ((r = cu.cuInit_(0)))
    return fatal("cuInit", r);
  if ((r = cu.cuDeviceGet_(&dev, 0)))
    return fatal("cuDeviceGet", r);
  cu.cuDeviceGetName_(sh.device, sizeof sh.device, dev);
  cu.cuDriverGetVersion_(&sh.driver);
  const CUdevice_attribute at[8] = {
      CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
      CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
      CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
      CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK,
      CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
      CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK,
      CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR,
      CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK};
  for (int i = 0; i < 8; ++i)
    cu.cuDeviceGetAttribute_(&sh.attr[i], at[i], dev);
  if ((r = cu.cuDevicePrimaryCtxRetain_(&ctx, dev)) ||
      (r = cu.cuCtxSetCurrent_(ctx)))
    return fatal("context", r);
  std::vector<std::string> mods;
  std::map<std::string, std::vector<size_t>> members;
  for (size_t i = from; i < ks.size(); ++i) {
    auto &m = members[ks[i].module];
    if (m.empty())
      mods.push_back(ks[i].module);
    m.push_back(i);
  }
  std::vector<CUfunction> fn(ks.size(), nullptr);
  std::atomic<size_t> next{0};
  double t0 = now();
  auto load = [&](const std::string &text, std::string &log) -> CUmodule {
    char err[2000] = "";
    CUmodule m = nullptr;
    CUjit_option o[] = {CU_JIT_ERROR_LOG_BUFFER,
                        CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *v[] = {err, reinterpret_cast<void *>(sizeof err)};
    CUresult e = cu.cuModuleLoadDataEx_(&m, text.c_str(), 2, o, v);
    if (e) {
      log = error(e) + ": " + err;
      return nullptr;
    }
    return m;
  };
  auto worker = [&] {
    cu.cuCtxSetCurrent_(ctx);
    for (size_t q; (q = next++) < mods.size();) {
      std::ifstream f(dir + "/ptx/" + mods[q] + ".ptx");
      std::stringstream s;
      s << f.rdbuf();
      std::string text = s.str(), log;
      CUmodule m = load(text, log);
      ++sh.beat;
      if (m) {
        for (size_t i : members[mods[q]])
          if (CUresult e =
                  cu.cuModuleGetFunction_(&fn[i], m, ks[i].name.c_str())) {
            st[i].state = 2;
            snprintf(st[i].text, sizeof st[i].text, "%s", error(e).c_str());
          }
        continue;
      }
      std::string head = text.substr(0, text.find("//@ "));
      for (size_t i :
           members[mods[q]]) { // one at a time, to know whose error it is
        ++sh.beat;
        size_t a = text.find("//@ " + ks[i].name + "\n");
        if (a == text.npos) {
          st[i].state = 2;
          snprintf(st[i].text, sizeof st[i].text, "no text; module: %s",
                   log.c_str());
          continue;
        }
        size_t b = text.find("//@ ", a + 4);
        std::string why;
        CUmodule one =
            load(head + text.substr(a, b == text.npos ? b : b - a), why);
        if (!one || cu.cuModuleGetFunction_(&fn[i], one, ks[i].name.c_str())) {
          st[i].state = 2;
          snprintf(st[i].text, sizeof st[i].text, "%s", why.c_str());
          fn[i] = nullptr;
        }
      }
    }
  };
  {
    std::vector<std::thread> t;
    unsigned n =
        std::min(12u, std::max(1u, std::thread::hardware_concurrency()));
    for (unsigned i = 0; i < n; ++i)
      t.emplace_back(worker);
    for (auto &x : t)
      x.join();
  }
  sh.jit += now() - t0;
  sh.modules = int(mods.size());
  sh.phase = 2;
  if (!launch)
    return 0;
  size_t big = 1 << 16;
  for (auto &k : ks) {
    for (auto &b : k.in)
      big = std::max(big, b.size());
    for (auto &o : k.out)
      big = std::max(big, size_t(k.spec.n) * o.per * 16);
  }
  CUdeviceptr p[8];
  for (auto &x : p)
    if ((r = cu.cuMemAlloc_(&x, big + 4096)))
      return fatal("cuMemAlloc", r);
  Bytes back(big), first;
  for (size_t i = from; i < ks.size(); ++i) {
    Kernel &k = ks[i];
    ++sh.beat;
    sh.at = int(i);
    if (!fn[i])
      continue;
    const char *what = "";
    auto fail = [&](CUresult e) {
      st[i].state = 3;
      snprintf(st[i].text, sizeof st[i].text, "%s: %s", what, error(e).c_str());
      return 9;
    };
    for (int q = 0; q < int(k.in.size()); ++q)
      if (!k.in[q].empty() &&
          (what = "copy in",
           (r = cu.cuMemcpyHtoD_(p[q], k.in[q].data(), k.in[q].size()))))
        return fail(r);
    for (int round = 0; round < 2; ++round) {
      for (size_t q = 0; q < k.out.size(); ++q)
        if ((what = "memset",
             (r = cu.cuMemsetD8_(
                  p[4 + q], 0xCD,
                  std::min(big, size_t(k.spec.n) * k.out[q].per * 16)))))
          return fail(r);
      unsigned n = unsigned(k.spec.n);
      void *args[9];
      for (int q = 0; q < 8; ++q)
        args[q] = &p[q];
      args[8] = &n;
      double a = now();
      if ((what = "launch", (r = cu.cuLaunchKernel_(
                                 fn[i], k.g[0], k.g[1], k.g[2], k.b[0], k.b[1],
                                 k.b[2], 0, nullptr, args, nullptr)))) {
        fail(r);
        if (r == CUDA_ERROR_INVALID_VALUE ||
            r == CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES)
          break;
        return 9;
      }
      if ((what = "run", (r = cu.cuCtxSynchronize_())))
        return fail(r);
      st[i].us = float((now() - a) * 1e6);
      for (auto &o : k.out) {
        size_t raw = size_t(k.spec.n) * o.per * (o.bits == 1 ? 1 : o.bits / 8);
        if ((what = "copy out",
             (r = cu.cuMemcpyDtoH_(back.data(), p[4 + (&o - k.out.data())],
                                   raw))))
          return fail(r);
        first.assign(o.bytes, 0);
        if (o.bits == 1) {
          for (size_t j = 0; j < raw; ++j)
            if (back[j] & 1)
              first[j / 8] |= uint8_t(1 << j % 8);
        } else
          memcpy(first.data(), back.data(), raw);
        if (round == 0)
          memcpy(output + o.offset, first.data(), o.bytes);
        else if (memcmp(output + o.offset, first.data(), o.bytes))
          st[i].unstable = 1;
      }
      st[i].state = 1;
    }
  }
  return 0;
}

int main(int argc, char **argv) {
  if (argc < 3) {
    fprintf(stderr, "runner DIR OUT [seconds|inputs|jit]\n");
    return 2;
  }
  std::string dir = argv[1], out = argv[2], mode = argc > 3 ? argv[3] : "55";
  double start = now(),
         limit = atof(mode.c_str()) > 0 ? atof(mode.c_str()) : 55;
  std::ifstream list(dir + "/instr.list");
  std::string line;
  std::vector<Kernel> ks;
  size_t total = 0;
  while (std::getline(list, line)) {
    std::istringstream s(line);
    Kernel k;
    int ni, no;
    s >> k.name >> k.module >> k.spec.n >> k.spec.seed;
    for (auto &x : k.g)
      s >> x;
    for (auto &x : k.b)
      s >> x;
    s >> ni;
    k.spec.nk = ni;
    for (int i = 0; i < ni; ++i) {
      std::string kind;
      s >> kind >> k.spec.per[i] >> k.bits[i];
      k.kinds.push_back(kind);
    }
    s >> no;
    for (int i = 0; i < no; ++i) {
      Out o;
      s >> o.per >> o.bits;
      o.bytes = (size_t(k.spec.n) * o.per * o.bits + 7) / 8;
      o.offset = total;
      total += (o.bytes + 15) / 16 * 16;
      k.out.push_back(o);
    }
    if (!s) {
      fprintf(stderr, "bad line: %s\n", line.c_str());
      return 2;
    }
    ks.push_back(std::move(k));
  }
  if (ks.empty()) {
    fprintf(stderr, "no %s/instr.list\n", dir.c_str());
    return 2;
  }
  {
    std::atomic<size_t> next{0};
    auto make = [&] {
      for (size_t i; (i = next++) < ks.size();) {
        Kernel &k = ks[i];
        for (int q = 0; q < k.spec.nk; ++q)
          k.spec.kind[q] = k.kinds[q].c_str();
        for (int q = 0; q < k.spec.nk; ++q) {
          size_t n = size_t(k.spec.n) * k.spec.per[q], w = k.bits[q] / 8;
          Bytes b(n * w);
          for (size_t j = 0; j < n; ++j) {
            u64 x = instr::value(k.spec, q, j);
            memcpy(&b[j * w], &x, w);
          }
          k.in.push_back(std::move(b));
        }
      }
    };
    std::vector<std::thread> t;
    unsigned n =
        std::min(16u, std::max(1u, std::thread::hardware_concurrency()));
    for (unsigned i = 0; i < n; ++i)
      t.emplace_back(make);
    for (auto &x : t)
      x.join();
  }
  double made = now() - start;
  if (mode == "inputs") {
    std::ofstream f(out + "/inputs.txt");
    char t[32];
    for (auto &k : ks) {
      f << k.name;
      for (auto &b : k.in) {
        snprintf(t, sizeof t, " %016llx",
                 (unsigned long long)fnv(b.data(), b.size()));
        f << t;
      }
      f << "\n";
    }
    printf("%zu kernels, inputs made in %.2f s, outputs %zu bytes\n", ks.size(),
           made, total);
    return 0;
  }
  size_t need = sizeof(Shared) + ks.size() * sizeof(Status) + total + 64;
  auto *base =
      static_cast<uint8_t *>(mmap(nullptr, need, PROT_READ | PROT_WRITE,
                                  MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  if (base == MAP_FAILED) {
    perror("mmap");
    return 2;
  }
  Shared &sh = *new (base) Shared{};
  auto *st = reinterpret_cast<Status *>(base + sizeof(Shared));
  uint8_t *output = base + sizeof(Shared) + ks.size() * sizeof(Status);
  std::string why;
  int children = 0;
  bool late = false;
  if (!cu.load(why))
    snprintf(sh.fatal, sizeof sh.fatal, "no driver: %s", why.c_str());
  else
    for (size_t from = 0; from < ks.size() && children < 40 && !late;) {
      ++children;
      sh.phase = 0;
      fflush(stdout);
      pid_t pid = fork();
      if (pid == 0) {
        int rc = child(ks, dir, sh, st, output, from, mode != "jit");
        _exit(rc);
      }
      if (pid < 0) {
        perror("fork");
        break;
      }
      u64 beat = sh.beat;
      double seen = now();
      int status = 0;
      bool hung = false;
      for (;;) {
        if (waitpid(pid, &status, WNOHANG) == pid)
          break;
        if (sh.beat != beat)
          beat = sh.beat, seen = now();
        late = now() - start > limit;
        hung = sh.phase == 2 && now() - seen > 5;
        if (late || hung) {
          kill(pid, SIGKILL);
          waitpid(pid, &status, 0);
          break;
        }
        usleep(2000);
      }
      int at = sh.at;
      if (hung || late) {
        if (sh.phase == 2)
          st[at].state = 4, snprintf(st[at].text, sizeof st[at].text, "%s",
                                     hung ? "hung" : "time is up");
      } else if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        break;
      else if (WIFEXITED(status) && WEXITSTATUS(status) == 7) {
        if (from == 0)
          break;
        fprintf(stderr, "restart failed: %s\n", sh.fatal);
        break;
      } else if (sh.phase != 2) {
        snprintf(sh.fatal, sizeof sh.fatal,
                 "child ended in phase %d, status %x", int(sh.phase), status);
        break;
      } else if (!WIFEXITED(status))
        st[at].state = 3, snprintf(st[at].text, sizeof st[at].text,
                                   "child died, status %x", status);
      from = size_t(at) + 1;
    }
  int count[5] = {};
  for (size_t i = 0; i < ks.size(); ++i)
    ++count[st[i].state];
  {
    std::ofstream f(out + "/instr.bin", std::ios::binary);
    f.write(reinterpret_cast<char *>(output), std::streamsize(total));
  }
  std::ofstream f(out + "/instr.json");
  char t[64];
  f << "{\"device\":\"" << json(sh.device) << "\",\"driver\":" << sh.driver
    << ",\"attributes\":{\"major\":" << sh.attr[0]
    << ",\"minor\":" << sh.attr[1] << ",\"multiprocessors\":" << sh.attr[2]
    << ",\"shared\":" << sh.attr[3] << ",\"sharedOptin\":" << sh.attr[4]
    << ",\"registers\":" << sh.attr[5]
    << ",\"threadsPerMultiprocessor\":" << sh.attr[6]
    << ",\"sharedReserved\":" << sh.attr[7] << "},\"fatal\":\""
    << json(sh.fatal) << "\",\"children\":" << children
    << ",\"jitSeconds\":" << sh.jit << ",\"inputSeconds\":" << made
    << ",\"seconds\":" << now() - start << ",\"kernels\":[\n";
  const char *names[] = {"not run", "ok", "jit", "error", "hung"};
  for (size_t i = 0; i < ks.size(); ++i) {
    Kernel &k = ks[i];
    f << "{\"name\":\"" << k.name << "\",\"status\":\"" << names[st[i].state]
      << "\"";
    if (st[i].text[0])
      f << ",\"message\":\"" << json(st[i].text) << "\"";
    if (st[i].unstable)
      f << ",\"unstable\":true";
    f << ",\"out\":[";
    for (auto &o : k.out) {
      snprintf(t, sizeof t, "%016llx",
               (unsigned long long)fnv(output + o.offset, o.bytes));
      f << (&o == k.out.data() ? "" : ",") << "{\"offset\":" << o.offset
        << ",\"bytes\":" << o.bytes << ",\"fnv\":\"" << t << "\"}";
    }
    f << "],\"in\":[";
    for (size_t q = 0; q < k.in.size(); ++q) {
      snprintf(t, sizeof t, "%016llx",
               (unsigned long long)fnv(k.in[q].data(), k.in[q].size()));
      f << (q ? "," : "") << "\"" << t << "\"";
    }
    f << "]}" << (i + 1 < ks.size() ? ",\n" : "\n");
  }
  f << "]}\n";
  printf("%s, driver %d: %zu kernels: %d ok, %d jit errors, %d run errors, %d "
         "hung, %d not run; children %d, jit %.1f s (%d modules), all %.1f s; "
         "%zu bytes%s%s\n",
         sh.device[0] ? sh.device : "no GPU", sh.driver, ks.size(), count[1],
         count[2], count[3], count[4], count[0], children, sh.jit, sh.modules,
         now() - start, total, sh.fatal[0] ? "; " : "", sh.fatal);
  int shown = 0;
  for (size_t i = 0; i < ks.size() && shown < 30; ++i)
    if (st[i].state > 1)
      printf("  %s %s: %.200s\n", names[st[i].state], ks[i].name.c_str(),
             st[i].text),
          ++shown;
  return 0;
}
